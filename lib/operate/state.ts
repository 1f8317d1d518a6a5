import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { type DueRange, dueIndex } from '../../functions/delivery/due-index.ts';
import { CROWDED_IN_FLIGHT } from '../../functions/delivery/lanes.ts';
import { dueSources } from '../../functions/knowledge/sources.ts';
import {
  DUE_SHARDS,
  DUE_STATES,
  type DueState,
  listShards,
  SOURCE_DUE_SHARDS,
} from '../../functions/tenancy/keys.ts';
import { purgeStore } from '../../functions/tenancy/purge.ts';
import { type Context, tableOf } from './context.ts';
import { keyVersions } from './keys.ts';

/** In-flight limit of a standard queue (SQS quotas). */
export const IN_FLIGHT_LIMIT = 120_000;

/** Parked deliveries resume within a minute; more than this is late. */
const LATE_SECONDS = 300;
/** Purges take minutes. */
const PURGE_LATE_SECONDS = 3600;

export interface QueueState {
  name: string;
  visible: number;
  inFlight: number;
  delayed: number;
}

/** Due items: a share of each organization, or a page of each shard. */
export interface Due {
  count: number;
  /** There are more than the count. */
  more: boolean;
  oldestAt?: string;
}

export interface State {
  place: string;
  at: string;
  queues: QueueState[];
  deadLetters: { name: string; messages: number; returns: boolean }[];
  due: Record<DueState, Due>;
  sources: Due;
  purges: { open: number; oldestAt?: string };
  keyrings: Awaited<ReturnType<typeof keyVersions>>;
}

/** A finding that requires action, with its runbook. */
export interface Attention {
  what: string;
  page: string;
}

/** Reads the state of queues, tables and secrets. */
export async function stateOf(context: Context): Promise<State> {
  const { place, now } = context;
  const at = now();
  const deliveries = dueIndex(tableOf(context, 'deliveries'));
  const sources = dueSources(tableOf(context, 'knowledge'));
  const dueIn = (state: DueState) =>
    readDue(
      listShards(DUE_SHARDS).map((shard) =>
        readShares((position?: DueRange) => deliveries.find(state, shard, at, position)),
      ),
    );
  const [queues, dead, [parked, watched], late, purges, keyrings] = await Promise.all([
    Promise.all([...place.queues].map(([name, url]) => measureQueue(context, name, url))),
    Promise.all([...place.deadLetters].map(([name, url]) => measureQueue(context, name, url))),
    Promise.all(DUE_STATES.map(dueIn)),
    readDue(listShards(SOURCE_DUE_SHARDS).map((shard) => sources.find(shard, at))),
    purgeStore(tableOf(context, 'service')).open(),
    keyVersions(context),
  ]);
  const none: Due = { count: 0, more: false };
  const [purge] = purges;
  return {
    place: place.name,
    at: at.toISOString(),
    queues,
    deadLetters: dead.map(({ name, visible, inFlight, delayed }) => ({
      name,
      messages: visible + inFlight + delayed,
      returns: REPROCESSED.has(name),
    })),
    due: { parked: parked ?? none, watched: watched ?? none },
    sources: late,
    purges: { open: purges.length, ...(purge && { oldestAt: purge.requestedAt }) },
    keyrings,
  };
}

/** SQS's estimates of a queue's messages. */
export async function measureQueue(
  { clients }: { clients: Pick<Context['clients'], 'sqs'> },
  name: string,
  QueueUrl: string,
): Promise<QueueState> {
  const { Attributes = {} } = await clients.sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesNotVisible',
        'ApproximateNumberOfMessagesDelayed',
      ],
    }),
  );
  return {
    name,
    visible: Number(Attributes.ApproximateNumberOfMessages ?? 0),
    inFlight: Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0),
    delayed: Number(Attributes.ApproximateNumberOfMessagesDelayed ?? 0),
  };
}

interface DuePage {
  entries: readonly { dueAt: string }[];
  next?: unknown;
  more?: readonly unknown[];
}

/** Reads a share of each organization, which has its earliest entries. */
async function readShares<P>(find: (position?: P) => Promise<DuePage & { next?: P }>): Promise<DuePage> {
  const pages = [await find()];
  for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next) pages.push(await find(next));
  return {
    entries: pages.flatMap(({ entries }) => entries),
    more: pages.flatMap(({ more = [] }) => more),
  };
}

async function readDue(pages: readonly Promise<DuePage>[]): Promise<Due> {
  const pagesRead = await Promise.all(pages);
  const [oldestAt] = pagesRead.flatMap(({ entries }) => entries.map(({ dueAt }) => dueAt)).sort();
  return {
    count: pagesRead.reduce((sum, { entries }) => sum + entries.length, 0),
    more: pagesRead.some(({ next, more = [] }) => next !== undefined || more.length > 0),
    ...(oldestAt === undefined ? {} : { oldestAt }),
  };
}

/** Queues whose dead letters a function processes repeatedly; others need an operator. */
export const REPROCESSED = new Set(['delivery', 'fan-outs', 'publications']);

/** Findings that require action. */
export function attentionOf(state: State, now: Date): Attention[] {
  const isLate = (at: string | undefined, seconds: number) =>
    at !== undefined && now.getTime() - Date.parse(at) > seconds * 1000;
  const { queues, deadLetters, due, sources, purges } = state;
  return [
    ...deadLetters
      .filter(({ messages, returns }) => messages > 0 && !returns)
      .map(({ name }) => ({ what: `${name} has dead letters`, page: 'dead-letters.md' })),
    ...queues
      .filter(({ inFlight }) => inFlight >= CROWDED_IN_FLIGHT)
      .map(({ name }) => ({ what: `${name} nears its limit of messages in flight`, page: 'backlog.md' })),
    ...(isLate(due.parked.oldestAt, LATE_SECONDS)
      ? [{ what: 'parked retries are late: the reconciler does not keep up', page: 'backlog.md' }]
      : []),
    ...(isLate(sources.oldestAt, 3 * LATE_SECONDS)
      ? [{ what: 'sources of knowledge are checked late', page: 'background.md' }]
      : []),
    ...(isLate(purges.oldestAt, PURGE_LATE_SECONDS)
      ? [{ what: 'data of reset sandboxes is not deleted yet', page: 'background.md' }]
      : []),
  ];
}
