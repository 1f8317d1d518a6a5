import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import { getWorkKey, WORK } from '../../../functions/delivery/outbox.ts';
import { type DeadEntriesPorts, processDeadEntries } from '../../../functions/delivery/outbox-readers.ts';
import { processDeadDeliveryMessage } from '../../../functions/delivery/reconcile.ts';
import type { OutboxWork } from '../../../functions/delivery/redelivery.ts';
import { DEFAULT_GRACE_SECONDS, EXPIRY_SECONDS } from '../../../functions/delivery/timing.ts';
import type { DeadLetter } from '../../../functions/events/events.ts';
import { aDelivery, anEvent, later, NOW, seconds } from '../../builders.ts';
import { MemoryEndpoints, memoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { refuse } from '../../doubles/memory-queue.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

describe('delivery message in the dead-letter queue', () => {
  const aDeadMessage = () => {
    const log = recordedLog();
    const deliveries = memoryDeliveries(new MemoryEndpoints());
    const due = deliveries.dueIndex;
    const processMessage = processDeadDeliveryMessage(
      { due, log, now: () => NOW },
      { graceSeconds: DEFAULT_GRACE_SECONDS },
    );
    return { deliveries, processMessage, log };
  };

  it('leaves its delivery open, for the reconciler', async () => {
    const { deliveries, processMessage, log } = aDeadMessage();
    const delivery = aDelivery({ attempts: 2, status: 'retrying' });
    await deliveries.add(delivery);

    await processMessage(toDeliveryMessage(delivery));

    expect(await deliveries.find(delivery)).toEqual(delivery);
    expect(deliveries.dueOf(delivery)).toEqual({
      state: 'watched',
      dueAt: later(NOW, seconds(DEFAULT_GRACE_SECONDS)).toISOString(),
    });
    expect(log.entries).toMatchObject([{ level: 'warn', fields: { deliveryId: delivery.id } }]);
  });

  it('changes nothing about a delivery that has ended or is in the due index already', async () => {
    const { deliveries, processMessage } = aDeadMessage();
    const [ended, parked] = [aDelivery({ status: 'succeeded' }), aDelivery({ status: 'retrying' })];
    for (const delivery of [ended, parked]) await deliveries.add(delivery);
    const place = { state: 'parked' as const, dueAt: NOW.toISOString() };
    deliveries.putDue(parked, 'parked', NOW);

    for (const delivery of [ended, parked, aDelivery()]) await processMessage(toDeliveryMessage(delivery));

    expect(deliveries.due).toEqual([{ delivery: parked, due: place }]);
  });
});

const anEntry = (now = NOW): OutboxWork => ({ kind: 'event', event: anEvent({ now }) });
const anOrder = (): OutboxWork => ({ kind: 'redelivery', deliveryMessage: toDeliveryMessage(aDelivery()) });

const RECORDS: DeadLetter = {
  kind: 'records',
  records: {
    streamArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/outbox/stream/1',
    shardId: 'shardId-1',
    startSequenceNumber: '1',
    endSequenceNumber: '9',
  },
};
const entries = (...work: OutboxWork[]): DeadLetter => ({ kind: 'entries', keys: work.map(getWorkKey) });

/** The worker of an outbox reader's dead letters. @param failing work items that fail */
function aReader(failing: readonly OutboxWork[], replaced: Partial<DeadEntriesPorts<OutboxWork>> = {}) {
  const log = recordedLog();
  const tried: OutboxWork[] = [];
  const sent: OutboxWork[][] = [];
  const kept: OutboxWork[] = [];
  const processMessage = processDeadEntries({
    read: async (letter) =>
      letter.kind === 'records'
        ? kept
        : kept.filter((work) => letter.keys.some((key) => isDeepStrictEqual(getWorkKey(work), key))),
    async handle(work) {
      tried.push(...work);
      return work.filter((each) => failing.includes(each));
    },
    async handOver(work) {
      sent.push([...work]);
      return [];
    },
    describe: WORK.describe,
    log,
    now: () => NOW,
    ...replaced,
  });
  return { processMessage, kept, tried, sent, log };
}

const DONE = { abandoned: 0 };
const EXPIRED = EXPIRY_SECONDS + 0.001;

/** An entry: its age in seconds, and whether it fails again. */
interface Entry {
  age?: number;
  fails?: boolean;
}

describe('dead letter of an outbox reader', () => {
  it.each<[string, DeadLetter['kind'], Entry[], result: object, sent: number[]]>([
    ['with stream records is removed when they succeed', 'records', [{}, {}], DONE, []],
    [
      'with stream records sends the keys of those that fail again, because the stream drops them',
      'records',
      [{}, { fails: true }, { fails: true }, {}],
      DONE,
      [1, 2],
    ],
    ['with entries is removed when they succeed', 'entries', [{}, {}], DONE, []],
    [
      'with entries stays when all fail again, so that a crash leaves no second one',
      'entries',
      [{ fails: true }, { fails: true }],
      { ...DONE, retryInSeconds: 5 },
      [],
    ],
    [
      'with entries is retried after as long as they are old',
      'entries',
      [{ age: 60, fails: true }],
      { ...DONE, retryInSeconds: 60 },
      [],
    ],
    [
      'with entries is retried after 15 minutes at most',
      'entries',
      [{ age: 86_400, fails: true }],
      { ...DONE, retryInSeconds: 900 },
      [],
    ],
    [
      'with entries sends those that fail in a letter of their own when others succeed',
      'entries',
      [{}, { fails: true }],
      DONE,
      [1],
    ],
    [
      'gives entries up after three days, and not before',
      'entries',
      [
        { age: EXPIRED, fails: true },
        { age: EXPIRY_SECONDS, fails: true },
      ],
      { abandoned: 1 },
      [1],
    ],
    ['processes old entries too, since the dependency may be back', 'entries', [{ age: EXPIRED }], DONE, []],
  ])('%s', async (_what, kind, given, result, expected) => {
    const work = given.map(({ age = 0 }, index) =>
      index % 2 === 0 || age > 0 ? anEntry(later(NOW, -seconds(age))) : anOrder(),
    );
    const failing = work.filter((_, index) => given[index]?.fails);
    const { processMessage, kept, tried, sent, log } = aReader(failing);
    kept.push(...work);

    expect(await processMessage(kind === 'records' ? RECORDS : entries(...work))).toEqual(result);

    expect(tried).toEqual(work);
    expect(sent).toEqual(expected.length === 0 ? [] : [expected.map((index) => work[index])]);
    const abandoned = failing.filter((_, index) => (given[index]?.age ?? 0) > EXPIRY_SECONDS);
    expect(log.entries.filter(({ level }) => level === 'error').map(({ fields }) => fields.id)).toEqual(
      abandoned.map((each) => getWorkKey(each).sk),
    );
  });

  it('is given up with an error when the stream has dropped its records', async () => {
    const { processMessage, tried, log } = aReader([], { read: async () => undefined });

    expect(await processMessage(RECORDS)).toEqual({ abandoned: 1 });

    expect(tried).toEqual([]);
    expect(log.entries).toMatchObject([
      { level: 'error', fields: { shardId: 'shardId-1', startSequenceNumber: '1', endSequenceNumber: '9' } },
    ]);
  });

  it('stays in its queue when its records can be neither processed nor sent', async () => {
    const failing = anEntry();
    const { processMessage, kept } = aReader([failing], { handOver: async (work) => refuse(work) });
    kept.push(failing);

    expect(await processMessage(RECORDS)).toMatchObject({ retryInSeconds: expect.any(Number) });
  });

  it('is removed when its entries are gone from the outbox', async () => {
    const { processMessage, tried, sent } = aReader([]);

    expect(await processMessage(entries(anEntry()))).toEqual(DONE);

    expect(tried).toEqual([]);
    expect(sent).toEqual([]);
  });
});
