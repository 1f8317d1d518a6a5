import type { Environment } from '../../api/client.ts';
import type { ListedEvent } from '../../api/open-deliveries.ts';
import { createdAt, prefixOf } from './ids.ts';

/** What a lookup reads. What does not exist is undefined or missing in a list. */
export interface LookUpPorts {
  /** Environments that the organization has. */
  environments: readonly Environment[];
  /** Milliseconds since the epoch. */
  now: number;
  hasEvent(environment: Environment, id: string): Promise<boolean>;
  hasEndpoint(environment: Environment, id: string): Promise<boolean>;
  hasSource(environment: Environment, id: string): Promise<boolean>;
  hasDelivery(environment: Environment, webhookId: string, id: string): Promise<boolean>;
  /** Undefined where the user may not see keys. */
  hasKey: ((id: string) => Promise<boolean>) | undefined;
  endpointIds(environment: Environment): Promise<string[]>;
  /** Events from a time until before another, in milliseconds since the epoch. */
  eventsBetween(environment: Environment, from: number, to: number): Promise<ListedEvent[]>;
}

/** Where to look further, or why there is nothing. */
type Note = 'expired' | 'deliveries' | 'conversations' | 'admins' | 'unknown';

export type LookedUp =
  /** @property path of the live half */
  | { kind: 'found'; environment: Environment; path: string }
  | { kind: 'missing'; places: readonly (Environment | 'keys')[]; note: Note | undefined };

const DAY_MS = 86_400_000;
const HISTORY_MS = 30 * DAY_MS;
/** An event is of the time of the request that causes it, as what it is about. */
const SAME_REQUEST_MS = 2_000;

type Find = (environment: Environment, id: string, ports: LookUpPorts) => Promise<string | undefined>;

interface Kind {
  find: Find;
  /** Said of what is not found. */
  note?: Note;
  /** Whether it is gone after 30 days. */
  isHistory?: boolean;
}

const has =
  (
    check: (ports: LookUpPorts) => (environment: Environment, id: string) => Promise<boolean>,
    path: string,
  ): Find =>
  async (environment, id, ports) =>
    (await check(ports)(environment, id)) ? `${path}/${id}` : undefined;

/** Events at the time of an identifier that mention it. */
async function mentions(environment: Environment, id: string, ports: LookUpPorts): Promise<ListedEvent[]> {
  const at = createdAt(id);
  const events = await ports.eventsBetween(environment, at - SAME_REQUEST_MS, at + SAME_REQUEST_MS);
  return events.filter(({ data }) => Object.values(data).includes(id));
}

/** The first delivery at an endpoint has the time of its event, so the event log leads to it. */
async function findDelivery(
  environment: Environment,
  id: string,
  ports: LookUpPorts,
): Promise<string | undefined> {
  const at = createdAt(id);
  for (const event of await ports.eventsBetween(environment, at, at + 1)) {
    const delivery = event.deliveries.find((each) => each.id === id);
    if (delivery === undefined) continue;
    const { webhookId, receiverStatus } = delivery;
    return webhookId === null || receiverStatus === 'deleted'
      ? `/events/${event.id}`
      : `/deliveries/${webhookId}/${id}`;
  }
  // One that was resent has a time of its own.
  const endpoints = await ports.endpointIds(environment);
  const found = await Promise.all(
    endpoints.map(async (webhookId) =>
      (await ports.hasDelivery(environment, webhookId, id)) ? webhookId : undefined,
    ),
  );
  const webhookId = found.find((each) => each !== undefined);
  return webhookId === undefined ? undefined : `/deliveries/${webhookId}/${id}`;
}

const findMention: Find = async (environment, id, ports) => {
  const events = await mentions(environment, id, ports);
  // What is sent to a channel is a consequence.
  const event = events.find(({ type }) => type !== 'channel.message') ?? events[0];
  return event === undefined ? undefined : `/events/${event.id}`;
};

const findConversation: Find = async (environment, id, ports) =>
  (await mentions(environment, id, ports)).length > 0 ? `/events?conversation=${id}` : undefined;

const KINDS: Readonly<Record<string, Kind>> = {
  evt: { find: has(({ hasEvent }) => hasEvent, '/events'), isHistory: true },
  whk: { find: has(({ hasEndpoint }) => hasEndpoint, '/endpoints') },
  chn: { find: has(({ hasEndpoint }) => hasEndpoint, '/channels') },
  src: { find: has(({ hasSource }) => hasSource, '/sources') },
  dlv: { find: findDelivery, note: 'deliveries', isHistory: true },
  cnv: { find: findConversation, note: 'conversations', isHistory: true },
  msg: { find: findMention, note: 'conversations', isHistory: true },
  tkt: { find: findMention, note: 'conversations', isHistory: true },
  esc: { find: findMention, note: 'conversations', isHistory: true },
};

/** Finds what an identifier names, live and in the sandbox. @throws ApiFailure */
export async function lookUp(id: string, ports: LookUpPorts): Promise<LookedUp> {
  const prefix = prefixOf(id);
  if (prefix === 'key') return lookUpKey(id, ports);
  const kind = Object.hasOwn(KINDS, prefix) ? KINDS[prefix] : undefined;
  if (kind === undefined) return { kind: 'missing', places: [], note: 'unknown' };
  const { environments, now } = ports;
  const paths = await Promise.all(environments.map((environment) => kind.find(environment, id, ports)));
  for (const [index, path] of paths.entries()) {
    const environment = environments[index];
    if (path !== undefined && environment !== undefined) return { kind: 'found', environment, path };
  }
  const isExpired = kind.isHistory === true && now - createdAt(id) > HISTORY_MS;
  return { kind: 'missing', places: environments, note: isExpired ? 'expired' : kind.note };
}

async function lookUpKey(id: string, { hasKey }: LookUpPorts): Promise<LookedUp> {
  if (hasKey === undefined) return { kind: 'missing', places: [], note: 'admins' };
  return (await hasKey(id))
    ? { kind: 'found', environment: 'live', path: `/api-keys?key=${id}` }
    : { kind: 'missing', places: ['keys'], note: undefined };
}
