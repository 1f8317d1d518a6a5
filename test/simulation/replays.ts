import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { newId, type OrgId } from '../../functions/aws/ids.ts';
import { type Change, committer } from '../../functions/aws/transaction.ts';
import { conversationStore } from '../../functions/conversations/conversations.ts';
import { outboxStore } from '../../functions/delivery/outbox.ts';
import { deliveryStore } from '../../functions/delivery/rows.ts';
import { sourceStore } from '../../functions/knowledge/sources.ts';
import { channelStore } from '../../functions/receivers/channels.ts';
import { endpointStore } from '../../functions/receivers/endpoints.ts';
import { apiKeyStore, generateApiKey, hashApiKey } from '../../functions/tenancy/api-keys.ts';
import { organizationStore } from '../../functions/tenancy/organizations.ts';
import {
  aConversation,
  aDelivery,
  anApiKey,
  anEndpoint,
  anEvent,
  anHttpChannel,
  anOrganization,
  aSource,
  aWebWidget,
  NOW,
} from '../builders.ts';
import { MemoryTables } from '../doubles/tables/memory-tables.ts';
import { TABLE_DEFINITIONS, type TableName } from '../table-definitions.ts';
import { type Answer, call, type Handler, loadFunction, type Request } from './api.ts';
import { pass } from './calls.ts';
import { conflictOf } from './clients.ts';
import { CALL_FAULTS, type CallFault } from './faults.ts';
import { whollyWithin } from './node.ts';
import { Processes, settled } from './processes.ts';
import type { Violation } from './promises.ts';
import { Random } from './random.ts';
import type { Statistics } from './statistics.ts';

/**
 * The caller, made outside of the world of a seed: what a loaded function remembers of callers is of none
 * that another run of the seed has.
 */
function aCaller() {
  const organization = anOrganization({ tier: 'scale' });
  return {
    organization,
    key: anApiKey({ orgId: organization.id }),
    credential: generateApiKey('live'),
  };
}
type Caller = ReturnType<typeof aCaller>;

/** What a request is about. */
function aScene(orgId: OrgId) {
  const ago = new Date(Date.now() - 3_600_000);
  const tenant = { orgId, generation: 0 };
  const endpoint = anEndpoint({ orgId });
  const event = anEvent({ tenant, now: ago });
  const delivery = { orgId, webhookId: endpoint.id, createdAt: ago.toISOString(), attempts: 1 };
  const channel = anHttpChannel({ orgId });
  return {
    ago,
    tenant,
    endpoint,
    event,
    channel,
    widget: aWebWidget({ orgId }),
    failed: aDelivery({ ...delivery, eventId: event.id, status: 'exhausted', terminalAt: ago.toISOString() }),
    retrying: aDelivery({ ...delivery, eventId: newId('evt', ago), status: 'retrying' }),
    conversation: aConversation({ channelId: channel.id }),
    resolved: aConversation({ channelId: channel.id, status: 'resolved' }),
    source: aSource({ orgId }),
  };
}
type Scene = ReturnType<typeof aScene>;

/** Requests that take an idempotency key, by the file of their function. */
const REQUESTS: Record<string, (scene: Scene) => Partial<Pick<Request, 'params' | 'body'>>> = {
  'channels/create-channel': () => ({ body: { kind: 'web_widget', name: 'Website' } }),
  'conversations/create-conversation': () => ({ body: { channelId: 'chn_web', externalUserId: 'visitor' } }),
  'conversations/create-message': ({ resolved: { id } }) => ({
    params: { id },
    body: { role: 'agent', content: 'Hello' },
  }),
  'conversations/request-handoff': ({ conversation: { id } }) => ({ params: { id } }),
  'conversations/resolve-conversation': ({ conversation: { id } }) => ({ params: { id } }),
  'knowledge/create-source': () => ({ body: { kind: 'url', url: 'https://www.example.com/' } }),
  'knowledge/sync-source': ({ source: { id } }) => ({ params: { id } }),
  'webhooks/start-redelivery': ({ endpoint: { id }, ago }) => ({
    params: { id },
    body: { from: ago.toISOString() },
  }),
  'conversations/create-ticket': ({ conversation: { id } }) => ({ body: { conversationId: id } }),
  'webhooks/redeliver-delivery': ({ endpoint: { id }, failed }) => ({
    params: { id, deliveryId: failed.id },
  }),
  'webhooks/register-webhook': () => ({
    body: { url: 'https://receiver.example.com/other', events: ['ticket.created'] },
  }),
  'webhooks/retry-delivery': ({ endpoint: { id }, retrying }) => ({
    params: { id, deliveryId: retrying.id },
  }),
  'webhooks/test-webhook': ({ endpoint: { id } }) => ({ params: { id } }),
};

/** Tables with a scene, and a request in it. */
async function begin(file: string, { organization, key, credential }: Caller) {
  const memory = new MemoryTables(TABLE_DEFINITIONS);
  const table = (name: TableName) => memory.table(name);
  const scene = aScene(organization.id);
  const { tenant, endpoint, event, channel, widget, failed, retrying, conversation, resolved, source } =
    scene;
  const [conversations, deliveries] = [
    conversationStore(table('service')),
    deliveryStore(table('deliveries')),
  ];
  const changes: Change[] = [
    organizationStore(table('service')).add(organization),
    ...apiKeyStore(table('service')).create(hashApiKey(credential), key),
    ...endpointStore(table('service')).add(endpoint),
    ...[channel, widget].flatMap((each) => channelStore(table('service')).add(each)),
    ...[conversation, resolved].flatMap((each) => conversations.add(tenant, each)),
    ...[failed, retrying].map((each) => deliveries.adding(each)),
    ...sourceStore(table('knowledge')).add(source),
    outboxStore(table('outbox')).append(event),
  ];
  for (const change of changes) await committer(memory.client())([change]);
  const request: Request = {
    credential,
    idempotencyKey: crypto.randomUUID(),
    params: {},
    body: {},
    ...REQUESTS[file]?.(scene),
  };
  return { memory, request };
}

/** Every row but those that count requests, without what differs between two equal requests. */
const contentsOf = (memory: MemoryTables): string[] =>
  Object.keys(TABLE_DEFINITIONS)
    .filter((name) => name !== 'rates')
    .flatMap((name) => memory.all(name).map((row) => toComparable(`${name} ${JSON.stringify(row)}`)))
    .toSorted();

/** Leaves out ids, hashes, times and numbers of shards. */
const toComparable = (text: string): string =>
  text
    .replace(/\b([a-z]{3})_[0-9a-f]{32}/g, '$1')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{64}\b/g, 'hash')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d{10}\b/g, 'time')
    .replace(/#\d+/g, '#n');

/** How often a call has a fault. */
const FAULTY = 0.25;
const FAULTS = Object.keys(CALL_FAULTS) as CallFault[];
/** Maximum of milliseconds between two steps. */
const STEP_MS = 30;

/**
 * Sends a request several times with one idempotency key, some at once, with faults at all calls, the last
 * time without.
 * @returns the broken promise
 */
export async function replay(
  random: Random,
  statistics: Statistics,
  trace: (line: string) => void = () => undefined,
): Promise<Violation | undefined> {
  const clock = new VirtualClock(NOW);
  const processes = new Processes(clock);
  const own = new Random(random.below(2 ** 31));
  const file = random.pick(Object.keys(REQUESTS));
  // Outside of the world's time: a function that is loaded once serves many worlds.
  const handler = await loadFunction(file);
  const callers: [Caller, Caller] = [aCaller(), aCaller()];
  return whollyWithin({ now: clock.now, sleep: (ms) => processes.pause(ms), random: () => own.next() }, () =>
    repeat({ random, clock, processes, statistics }, { file, handler, callers }, trace),
  );
}

async function repeat(
  world: { random: Random; clock: VirtualClock; processes: Processes; statistics: Statistics },
  { file, handler, callers }: { file: string; handler: Handler; callers: [Caller, Caller] },
  trace: (line: string) => void,
): Promise<Violation | undefined> {
  const { random, clock, processes, statistics } = world;
  const { stops } = processes;
  const once = await begin(file, callers[0]);
  const first = await call(handler, once.request, once.memory.client());
  if (!first.isSuccess) return { promise: 'done once', detail: `${file}, sent once: ${first.text}` };

  const { memory, request } = await begin(file, callers[1]);
  const answers: Answer[] = [];
  let last: Answer | undefined;
  let isDisabled = false;
  let left = random.between(2, 5);
  statistics.count('requests with an idempotency key', left);
  const send = async () => {
    left -= 1;
    const isLast = left === 0;
    const process = processes.start('request', 0);
    trace(`a customer  sends ${file} as ${process.name}`);
    const client = memory.client((name, input, effect) =>
      pass(
        { processes, random, trace: undefined },
        { process, name, effect, conflict: () => conflictOf(name, input) },
      ),
    );
    const answer = await call(handler, request, client);
    trace(`${process.name}  answers ${answer.text}`);
    answers.push(answer);
    if (isLast) last = answer;
  };
  while (left + stops.length > 0) {
    clock.elapseUntil(new Date(clock.ms + random.below(STEP_MS)));
    const ready = stops.filter(({ readyAt }) => readyAt <= clock.ms);
    const stop = ready[random.below(ready.length + Math.min(left, 1))];
    if (stop !== undefined) {
      const fate = stop.isTime || left === 0 || !random.chance(FAULTY) ? 'goes-on' : random.pick(FAULTS);
      trace(`${stop.process.name}  ${stop.call} ${fate}`);
      if (fate === 'ends') processes.lose(stop.process);
      else await processes.letOn(stop, fate);
    } else if (left > 0) {
      if (!isDisabled && answers.some(({ isSuccess }) => isSuccess) && random.chance(0.5)) {
        trace('an operator  disables the endpoint');
        isDisabled = true;
        for (const each of [memory, once.memory]) disable(each);
      }
      void send();
      await settled();
    } else clock.elapseUntil(new Date(Math.min(...stops.map(({ readyAt }) => readyAt))));
  }
  const detail =
    last?.isSuccess === true
      ? faultOf(answers, contentsOf(memory), contentsOf(once.memory))
      : `the last answer is ${last?.text}`;
  return detail === undefined ? undefined : { promise: 'done once', detail: `${file}: ${detail}` };
}

/** What comes after the first answer does not change it. */
function disable(memory: MemoryTables): void {
  for (const row of memory.all('service'))
    if (String(row.pk).endsWith('#webhooks')) memory.put('service', { ...row, status: 'auto_disabled' });
}

/** What is wrong after a repeated request, compared with the contents after one request. */
function faultOf(answers: readonly Answer[], contents: string[], expected: string[]): string | undefined {
  const successes = answers.filter(({ isSuccess }) => isSuccess);
  const others = successes.filter(({ text }) => text !== successes[0]?.text);
  if (others.length > 0) return `one answer is ${successes[0]?.text}, another ${others[0]?.text}`;
  if (successes.filter(({ isReplay }) => !isReplay).length > 1)
    return 'two answers say that they are the first';
  const at = [...contents, undefined].findIndex((row, index) => row !== expected[index]);
  return at === -1 ? undefined : `tables have ${contents[at]} where one request leaves ${expected[at]}`;
}
