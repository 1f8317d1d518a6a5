import { randomUUID } from 'node:crypto';
import { until } from 'aws-local/test/until.ts';
import { routes } from '../../functions/api/routes.ts';
import { type Route, settingsPath } from '../../functions/http/route.ts';
import type { ApiClient } from './api.ts';

/** A client that creates resources of one organization through the API. */
export interface Maker {
  /** With a key of all scopes. */
  api: ApiClient;
  /** With the session of an admin. */
  admin: ApiClient;
  /** URL of a receiver that answers 200, and 503 with `Retry-After` to what is sent to `/busy` below it. */
  receiver: string;
  /** What was made before, by its purpose. Absent where each request needs new resources. */
  reused?: Map<string, Promise<string>>;
}

/** The same maker, which makes each resource once: for requests that are refused and so change nothing. */
export const reusing = <M extends Maker>(maker: M): M => ({ ...maker, reused: new Map() });

/** What is made for a purpose, once for a maker that reuses it. */
export function once(
  { reused }: Pick<Maker, 'reused'>,
  purpose: string,
  make: () => Promise<string>,
): Promise<string> {
  const made = reused?.get(purpose) ?? make();
  reused?.set(purpose, made);
  return made;
}

/** Creates a resource in a collection and returns its id. */
type Factory = (maker: Maker, at: { collection: string; parent: string }) => Promise<string>;

/** By the collection: the part before the parameter in a path. */
const FACTORIES: Readonly<Record<string, Factory>> = {
  // An event that nothing here causes, so that deliveries are only those that a test requests.
  webhooks: ({ api, receiver }, { collection }) =>
    made(api, collection, { url: atOwnHost(receiver), events: ['conversation.resolved', 'ticket.created'] }),
  deliveries: ({ api }, { parent }) => endedDelivery(api, parent),
  events: ({ api }, { collection }) => eventOf(api, collection),
  redeliveries: ({ api }, { collection }) => endedRedelivery(api, collection),
  conversations: ({ api }, { collection }) =>
    made(api, collection, { channelId: 'chn_web', externalUserId: 'visitor-1' }),
  contacts: ({ api }) => aContact(api),
  erasures: ({ api }) => anErasure(api),
  messages: ({ api }, { collection }) => made(api, collection, { role: 'user', content: 'Hello' }),
  escalations: ({ api }, { parent }) => handedOff(api, parent),
  channels: ({ api, receiver }, { collection }) =>
    made(api, collection, { name: 'Messenger', kind: 'http', url: receiver }),
  tickets: ({ api }, { collection }) => made(api, collection, { reason: 'no agent was online' }),
  sources: ({ api, receiver }, { collection }) => checkedSource(api, collection, receiver),
  'api-keys': ({ admin }, { collection }) =>
    made(admin, collection, { name: 'Another', scopes: ['read:webhooks'] }),
  // An entry cannot be created alone.
  'audit-log': ({ admin }) =>
    made(admin, '/api/settings/api-keys', { name: 'Another', scopes: ['read:webhooks'] }),
};

/** Paths that need a resource in a certain state. */
const SPECIAL: Readonly<Record<string, Factory>> = {
  '/api/v1/webhooks/{id}/deliveries/{deliveryId}/retry': ({ api, receiver }, { parent, collection }) =>
    collection.endsWith('/deliveries') ? retryingDelivery(api, parent) : busyEndpoint(api, receiver),
  '/api/v1/channels/{id}/deliveries/{deliveryId}/retry': ({ api, receiver }, { parent, collection }) =>
    collection.endsWith('/deliveries')
      ? retryingDelivery(api, parent)
      : made(api, collection, { name: 'Messenger', kind: 'http', url: busyUrl(receiver) }),
  '/api/v1/conversations/{id}/visitor-token': ({ api }) => onWidget(api),
};

/** What a path needs without a parameter for it. */
const PRECONDITIONS: Readonly<Record<string, (maker: Maker) => Promise<unknown>>> = {
  '/api/settings/sandbox': provision,
  '/api/settings/sandbox/reset': provision,
};

/** Collections of the resources that bodies may refer to, by the prefix of their ids. */
const PATHS: Readonly<Record<string, string>> = {
  cnv: '/api/v1/conversations/{id}',
};

/** Settings paths, with the paths for keys where their resources are created. */
const FIRST_DOORS: ReadonlyMap<string, string> = new Map(
  Object.values(routes).flatMap((route: Route) => {
    const second = settingsPath(route);
    return second === undefined ? [] : [[`/api${second}`, `/api${route.path}`] as const];
  }),
);

/**
 * A route's path with new resources in place of its parameters, and its other prerequisites.
 * @throws Error when there is no factory for a parameter
 */
export async function filled(maker: Maker, path: string): Promise<string> {
  const first = FIRST_DOORS.get(path);
  if (first !== undefined) return (await filled(maker, first)).replace(/^\/api\/v\d+\//, '/api/settings/');
  await PRECONDITIONS[path]?.(maker);
  let whole = '';
  for (const segment of path.slice(1).split('/')) {
    if (/^\{\w+\}$/.test(segment)) {
      const factory = SPECIAL[path] ?? FACTORIES[idIn(whole)];
      if (factory === undefined)
        throw new Error(`nothing makes the ${segment} of ${path}: add it to test/support/resources.ts`);
      const parent = whole.slice(0, whole.lastIndexOf('/'));
      const purpose = `${path in SPECIAL ? path : ''} ${whole}`;
      const collection = whole;
      whole = `${whole}/${await once(maker, purpose, () => factory(maker, { collection, parent }))}`;
    } else whole = `${whole}/${segment}`;
  }
  return whole;
}

/**
 * A body with ids of new resources in place of its own.
 * @throws Error when there is no factory for an id
 */
export async function withRealIds(maker: Maker, body: unknown): Promise<unknown> {
  const ids = new Map<string, string>();
  for (const [id, prefix = ''] of JSON.stringify(body).matchAll(/\b([a-z]{3})_[0-9a-f]{32}\b/g)) {
    const path = PATHS[prefix];
    if (path === undefined)
      throw new Error(`nothing makes what ${id} names: add it to test/support/resources.ts`);
    ids.set(id, idIn(await filled(maker, path)));
  }
  return JSON.parse(JSON.stringify(body), (_, value) => ids.get(value) ?? value);
}

/** The last segment of a path: the id, where it is a resource's. */
export const idIn = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** An external user with a conversation. The identifier looks like an id, so that tests find it in paths. */
async function aContact(api: ApiClient): Promise<string> {
  const externalUserId = `usr_${randomUUID().replaceAll('-', '')}`;
  await made(api, '/api/v1/conversations', { channelId: 'chn_web', externalUserId });
  return externalUserId;
}

async function anErasure(api: ApiClient): Promise<string> {
  const id = await made(api, '/api/v1/conversations', { channelId: 'chn_web', externalUserId: 'visitor-1' });
  const { headers } = await api.call({ method: 'DELETE', path: `/api/v1/conversations/${id}` });
  return idIn(String(headers.location));
}

/** A receiver that asks for the next attempt in an hour; in a sandbox, a simulated one that fails. */
const busyUrl = (receiver: string): string => atOwnHost(`${receiver}/busy?simulate=500`);

async function busyEndpoint(api: ApiClient, receiver: string): Promise<string> {
  const { id } = await api.register(busyUrl(receiver), ['conversation.resolved']);
  return String(id);
}

/** A delivery that waits for that hour; in a sandbox without waits, one that has failed. */
const retryingDelivery = (api: ApiClient, endpoint: string): Promise<string> =>
  testDelivery(
    api,
    endpoint,
    ({ nextRetryReason, terminalAt }) => nextRetryReason === 'retry_after' || terminalAt !== null,
  );

/** A delivery whose next attempt is due in an hour. */
export async function unfinishedDelivery({
  api,
  receiver,
}: Pick<Maker, 'api' | 'receiver'>): Promise<string> {
  const endpoint = `/api/v1/webhooks/${await busyEndpoint(api, receiver)}`;
  return `${endpoint}/deliveries/${await retryingDelivery(api, endpoint)}`;
}

/** A conversation that visitors of a web widget may see. */
async function onWidget(api: ApiClient): Promise<string> {
  const cached = WIDGETS.get(api) ?? made(api, '/api/v1/channels', { name: 'Website', kind: 'web_widget' });
  WIDGETS.set(api, cached);
  return made(api, '/api/v1/conversations', { channelId: await cached, externalUserId: 'visitor-1' });
}
/** One for each organization, because the number of channels is limited. */
const WIDGETS = new WeakMap<ApiClient, Promise<string>>();

/** The token of a visitor with a conversation. */
export const aVisitor = (maker: Pick<Maker, 'api' | 'reused'>): Promise<string> =>
  once(maker, 'a visitor', async () => {
    const { api } = maker;
    const { status, body } = await api.post(`/api/v1/conversations/${await onWidget(api)}/visitor-token`);
    if (status !== 201) throw new Error(`the token was answered ${status}: ${JSON.stringify(body)}`);
    return String(body.data?.token);
  });

/** The event of a new ticket. */
async function eventOf(api: ApiClient, collection: string): Promise<string> {
  const ticket = await made(api, '/api/v1/tickets', { reason: 'for its event' });
  const { body } = await api.get(`${collection}?type=ticket.created&limit=100`);
  const event = [...(body.data ?? [])].find(({ data }) => Object(data).ticketId === ticket);
  if (event === undefined) throw new Error(`${collection} has no event of ${ticket}`);
  return String(event.id);
}

/** A redelivery job of the last hour's failures, which has ended. */
async function endedRedelivery(api: ApiClient, collection: string): Promise<string> {
  const id = await made(api, collection, { from: new Date(Date.now() - 3_600_000).toISOString() });
  await until(`the end of ${id}`, async () => {
    const { body } = await api.get(`${collection}/${id}`);
    return body.data?.status !== 'running';
  });
  return id;
}

/**
 * Only an open conversation can be handed off: the second time it is resolved first, and reopened by a
 * message.
 */
async function handedOff(api: ApiClient, conversation: string): Promise<string> {
  const { body } = await api.get(conversation);
  if (body.data?.status !== 'open') {
    await api.post(`${conversation}/resolve`);
    await made(api, `${conversation}/messages`, { role: 'user', content: 'And another thing' });
  }
  return made(api, `${conversation}/handoff`, { reason: 'asked for a person' });
}

async function provision({ admin }: Maker): Promise<void> {
  const body = { name: 'Another', scopes: ['read:webhooks'] };
  const { status } = await admin.post('/api/settings/sandbox/provision', body);
  if (status !== 201) throw new Error(`the provisioning answered ${status}`);
}

const endedDelivery = (api: ApiClient, endpoint: string): Promise<string> =>
  testDelivery(api, endpoint, ({ terminalAt }) => terminalAt !== null);

async function testDelivery(
  api: ApiClient,
  endpoint: string,
  is: (delivery: Record<string, unknown>) => boolean,
): Promise<string> {
  const { status: sent, body: test } = await api.post(`${endpoint}/test`);
  if (sent !== 202) throw new Error(`the test of ${endpoint} answered ${sent}: ${JSON.stringify(test)}`);
  const id = String(test.data?.deliveryId);
  await until(`the delivery ${id} as wanted`, async () => {
    const { status, body } = await api.get(`${endpoint}/deliveries/${id}`);
    return status === 200 && body.data !== undefined && is(body.data);
  });
  return id;
}

/**
 * The URL at a host without other endpoints, because their number for each host is limited; this machine has
 * one name, and any number of addresses.
 */
function atOwnHost(receiver: string): string {
  const url = new URL(receiver);
  if (url.hostname !== 'localhost') url.hostname = `${randomUUID()}.${url.hostname}`;
  return url.href;
}

/** A source whose first check has ended, so that it stays unchanged for an hour. */
async function checkedSource(api: ApiClient, collection: string, url: string): Promise<string> {
  const id = await made(api, collection, { kind: 'url', url });
  await until(`the source ${id} checked`, async () => {
    const { body } = await api.get(`${collection}/${id}`);
    return body.data !== undefined && body.data.status !== 'pending';
  });
  return id;
}

async function made(api: ApiClient, path: string, body: unknown): Promise<string> {
  const answer = await api.post(path, body);
  if (answer.status !== 201 && answer.status !== 202)
    throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return String(answer.body.data?.id);
}
