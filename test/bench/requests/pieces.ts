import type { Measured, Piece } from '../../../lib/cost/measured.ts';
import { sumOf } from '../../../lib/cost/prices.ts';
import type { FunctionName } from '../../../lib/infra/grants/grant.ts';
import { itemBytes } from '../../support/item-size.ts';
import { openLoop } from '../measure/open-loop.ts';
import { type Behaviour, type Receivers, startReceivers } from './receivers.ts';
import { aSender, CONTENT, type Sender } from './senders.ts';
import { GIB, NOTHING, STORED_LOG_MONTHS, shared, type Tallies, usageOf } from './tally.ts';
import type { TemplateFacts } from './template.ts';
import type { WatchedRun } from './watched-run.ts';

/** Ten million a month, evenly. */
const PER_SECOND = 4;
/** As many as have an event within the window of the deliveries' stream. */
const SENDERS = 40;
/** Messages of each sender at the steady rate, in a burst, and calls that read. */
const ROUNDS = 5;
/** Longer than the batching windows of the deliveries' stream and of the meter. */
const GATHERED_MS = 12_000;
/** Until a working receiver answers; one that hangs uses all of the deadline (docs/specification.md). */
const ANSWER_MS = 200;
const DEADLINE_MS = 10_000;

/** Bytes of a line in the gateway's log, and of an answer of the API. */
const LOG_GB = 380 / GIB;
const GATEWAY = {
  apiCalls: 1,
  inspectedRequests: 1,
  logGb: LOG_GB,
  logGbMonths: LOG_GB * STORED_LOG_MONTHS,
  egressGb: 1_200 / GIB,
};
/** Usage of scheduled functions that run at other rates. */
export const atOtherRates = (
  piece: Piece,
  runs: TemplateFacts['schedules'],
  otherRuns: TemplateFacts['schedules'],
): Piece =>
  Object.fromEntries(
    Object.entries(otherRuns).map(([name, others]) => [
      name,
      sumOf([others / (runs[name] ?? Number.NaN), piece[name] ?? {}]),
    ]),
  );

/** Bytes that DynamoDB adds to each stored item. */
const ITEM_OVERHEAD = 100;
/** Retention in days (docs/architecture.md), and a month for conversations, which the service keeps. */
const KEPT_DAYS = { event: 33, delivery: 30, idempotency: 1, mark: 60, message: 30 };
const DAYS_A_MONTH = 730 / 24;

type Memory = TemplateFacts['memory'];

/** Usage of some functions for each of some units. */
const pieceOf = (tallies: Tallies, names: readonly string[], units: number, memory: Memory): Piece =>
  Object.fromEntries(
    names.map((name) => [name, usageOf(tallies[name] ?? NOTHING, units, memory[name] ?? Number.NaN)]),
  );

/** Usage of the functions from the outbox to receivers, for each delivery. */
function deliveryOf(
  tallies: Tallies,
  units: number,
  memory: Memory,
  sent: ReturnType<Receivers['taken']>,
  answerMs = ANSWER_MS,
): Piece {
  const dispatched = tallies.dispatch ?? NOTHING;
  const waitMs = Math.min(dispatched.invocations, sent.requests) * answerMs;
  return {
    ...pieceOf(tallies, ['fan-out', 'delivery-stream'], units, memory),
    dispatch: {
      ...usageOf(dispatched, units, memory.dispatch ?? Number.NaN, waitMs),
      ...shared(units, { egressGb: sent.wireBytes / GIB }),
    },
  };
}

/** Messages and deliveries that succeed at once, at the steady rate and in a burst, and calls that read. */
export async function measureSuccesses(
  run: WatchedRun,
  memory: Memory,
  rounds = ROUNDS,
): Promise<Pick<Measured, 'message' | 'delivery' | 'read' | 'storage'>> {
  const receivers = await startReceivers(run.service.tls);
  try {
    const senders: Sender[] = [];
    while (senders.length < SENDERS) senders.push(await aSender(run, receivers.add([204])));
    const units = SENDERS * rounds;
    const all = (act: (sender: Sender) => Promise<void>, times: number) =>
      Promise.all(Array.from({ length: SENDERS * times }, (_, number) => act(at(senders, number))));
    await all((sender) => sender.post(), 1);
    await run.taken(GATHERED_MS);
    receivers.taken();

    const faults: unknown[] = [];
    await openLoop({ perSecond: PER_SECOND, count: units }, (number) =>
      at(senders, number)
        .post()
        .catch((fault: unknown) => faults.push(fault)),
    );
    if (faults.length > 0) throw faults[0];
    const steady = [await run.taken(GATHERED_MS), receivers.taken()] as const;
    await all((sender) => sender.post(), rounds);
    const burst = [await run.taken(GATHERED_MS), receivers.taken()] as const;
    for (const sender of senders) await sender.ended(1 + 2 * rounds);
    await run.taken();
    await all((sender) => sender.read(), 1);
    const reads = await run.taken();

    const storage = await storageOf(run, at(senders, 0).tenant.orgId);
    const messageOf = (tallies: Tallies): Piece => ({
      gateway: shared(1, GATEWAY),
      ...pieceOf(tallies, ['create-message', 'publish', 'meter'], units, memory),
    });
    const deliveriesOf = ([tallies, sent]: typeof steady) => deliveryOf(tallies, units, memory, sent);
    for (const sender of senders) sender.tenant.close();
    return {
      message: { steady: messageOf(steady[0]), burst: messageOf(burst[0]) },
      read: { gateway: shared(1, GATEWAY), ...pieceOf(reads, ['list-messages'], SENDERS, memory) },
      delivery: { steady: deliveriesOf(steady), burst: deliveriesOf(burst) },
      storage,
    };
  } finally {
    await receivers.stop();
  }
}

/** One after another, again and again. */
function at<T>(all: readonly T[], number: number): T {
  const one = all[number % all.length];
  if (one === undefined) throw new Error('the list is empty');
  return one;
}

/** Storage of one message and of one delivery for as long as they are kept. */
async function storageOf(run: WatchedRun, orgId: string) {
  const items = (await run.service.rows([orgId])).map(({ item }) => item);
  const kept = (name: keyof typeof KEPT_DAYS, is: (item: Record<string, unknown>) => boolean): number => {
    const sizes = items.filter(is).map(itemBytes);
    if (sizes.length === 0) throw new Error(`no table has an item of kind ${name}`);
    const bytes = sizes.reduce((sum, size) => sum + size, 0) / sizes.length + ITEM_OVERHEAD;
    return (bytes * KEPT_DAYS[name]) / DAYS_A_MONTH / GIB;
  };
  const storage = (gbMonths: number) => shared(1, { tableGbMonths: gbMonths, recoveryGbMonths: gbMonths });
  return {
    message: storage(
      kept('event', ({ type }) => type === 'message.received') +
        kept('message', ({ sk }) => String(sk).startsWith('msg_')) +
        kept('mark', ({ sk }) => sk === 'metered') +
        kept(
          'idempotency',
          (item) => item.sk === 'idempotency' && JSON.stringify(item).includes(CONTENT.slice(0, 40)),
        ),
    ),
    delivery: storage(kept('delivery', ({ sk }) => String(sk).startsWith('dlv_'))),
  };
}

/** Deliveries of a kind that fails, one after another: more at once would make a receiver look slow. */
const FAILURES = {
  retried: { behaviour: [500, 204], deliveries: 10, answerMs: ANSWER_MS },
  exhausted: { behaviour: [500], deliveries: 5, answerMs: ANSWER_MS },
  timedOut: { behaviour: ['hang'], deliveries: 4, answerMs: DEADLINE_MS },
} as const satisfies Record<string, { behaviour: Behaviour; deliveries: number; answerMs: number }>;

/** Deliveries that fail, alone in their batches. */
export async function measureFailures(
  run: WatchedRun,
  memory: Memory,
): Promise<Pick<Measured, keyof typeof FAILURES>> {
  const receivers = await startReceivers(run.service.tls);
  const measure = async (kind: keyof typeof FAILURES): Promise<Piece> => {
    const { behaviour, deliveries, answerMs } = FAILURES[kind];
    const sender = await aSender(run, receivers.add(behaviour));
    // The first one starts processes, and marks an endpoint that hangs as slow.
    await sender.post();
    await sender.ended(1);
    await run.taken(GATHERED_MS);
    receivers.taken();
    await openLoop({ perSecond: PER_SECOND, count: deliveries }, () => sender.post());
    await sender.ended(1 + deliveries);
    const tallies = await run.taken(GATHERED_MS);
    sender.tenant.close();
    return deliveryOf(tallies, deliveries, memory, receivers.taken(), answerMs);
  };
  try {
    return {
      retried: await measure('retried'),
      exhausted: await measure('exhausted'),
      timedOut: await measure('timedOut'),
    };
  } finally {
    await receivers.stop();
  }
}

const IDLE_RUNS = 3;

/** A month of each scheduled function without due work. */
export async function measureIdle(
  run: WatchedRun,
  { schedules, memory }: Pick<TemplateFacts, 'schedules' | 'memory'>,
): Promise<Piece> {
  const names = Object.keys(schedules);
  const runAll = async () => {
    for (const name of names) await run.service.invoke(name as FunctionName);
  };
  await runAll();
  await run.taken();
  for (let round = 0; round < IDLE_RUNS; round += 1) await runAll();
  const tallies = await run.taken();
  return Object.fromEntries(
    names.map((name) => {
      const runs = tallies[name]?.invocations ?? 0;
      return [name, usageOf(tallies[name] ?? NOTHING, runs / (schedules[name] ?? 0), memory[name] ?? 0)];
    }),
  );
}
