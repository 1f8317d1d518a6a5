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

describe('stream records that an outbox reader failed on', () => {
  it('are processed once more, and removed after a success', async () => {
    const { processMessage, kept, tried, sent } = aReader([]);
    kept.push(anEntry(), anOrder());

    expect(await processMessage(RECORDS)).toEqual(DONE);

    expect(tried).toEqual(kept);
    expect(sent).toEqual([]);
  });

  it('are sent by their keys when they fail again, because the stream drops them', async () => {
    const failing = [anEntry(), anOrder()];
    const { processMessage, kept, sent } = aReader(failing);
    kept.push(anEntry(), ...failing, anEntry());

    expect(await processMessage(RECORDS)).toEqual(DONE);

    expect(sent).toEqual([failing]);
  });

  it('are given up with an error when the stream has dropped them', async () => {
    const { processMessage, tried, log } = aReader([], {
      read: async () => undefined,
    });

    expect(await processMessage(RECORDS)).toEqual({ abandoned: 1 });

    expect(tried).toEqual([]);
    expect(log.entries).toMatchObject([
      { level: 'error', fields: { shardId: 'shardId-1', startSequenceNumber: '1', endSequenceNumber: '9' } },
    ]);
  });

  it('stay in their queue when they can be neither processed nor sent', async () => {
    const failing = anEntry();
    const { processMessage, kept } = aReader([failing], { handOver: async (work) => refuse(work) });
    kept.push(failing);

    expect(await processMessage(RECORDS)).toMatchObject({ retryInSeconds: expect.any(Number) });
  });
});

describe('outbox entries that a reader failed on', () => {
  it('are found by their keys and processed', async () => {
    const { processMessage, kept, tried, sent } = aReader([]);
    kept.push(anEntry(), anOrder());

    expect(await processMessage(entries(...kept))).toEqual(DONE);

    expect(tried).toEqual(kept);
    expect(sent).toEqual([]);
  });

  it('stay in their letter when all of them fail again, so that a crash leaves no second one', async () => {
    const failing = [anEntry(), anEntry()];
    const { processMessage, kept, sent } = aReader(failing);
    kept.push(...failing);

    expect(await processMessage(entries(...failing))).toEqual({ abandoned: 0, retryInSeconds: 5 });

    expect(sent).toEqual([]);
  });

  it.each([
    [60, 60],
    [86_400, 900],
  ])('are retried after as long as they are old, at most 15 minutes: %i s', async (age, retryInSeconds) => {
    const failing = anEntry(later(NOW, -seconds(age)));
    const { processMessage, kept } = aReader([failing]);
    kept.push(failing);

    expect(await processMessage(entries(failing))).toEqual({ abandoned: 0, retryInSeconds });
  });

  it('are sent in a letter of their own when others of their letter succeed', async () => {
    const failing = anEntry();
    const { processMessage, kept, sent } = aReader([failing]);
    kept.push(anEntry(), failing);

    expect(await processMessage(entries(...kept))).toEqual(DONE);

    expect(sent).toEqual([[failing]]);
  });

  it('are given up with an error after three days, and not before', async () => {
    const old = anEntry(later(NOW, -seconds(EXPIRY_SECONDS) - 1));
    const young = anEntry(later(NOW, -seconds(EXPIRY_SECONDS)));
    const { processMessage, kept, sent, log } = aReader([old, young]);
    kept.push(old, young);

    expect(await processMessage(entries(old, young))).toEqual({ abandoned: 1 });

    expect(sent).toEqual([[young]]);
    expect(log.entries).toMatchObject([{ level: 'error', fields: { id: getWorkKey(old).sk } }]);
  });

  it('are processed even when they are old, since the dependency may be back', async () => {
    const old = anEntry(later(NOW, -seconds(EXPIRY_SECONDS) - 1));
    const { processMessage, kept, tried } = aReader([]);
    kept.push(old);

    expect(await processMessage(entries(old))).toEqual(DONE);
    expect(tried).toEqual([old]);
  });

  it('are ignored when they are gone from the outbox', async () => {
    const { processMessage, tried, sent } = aReader([]);

    expect(await processMessage(entries(anEntry()))).toEqual(DONE);

    expect(tried).toEqual([]);
    expect(sent).toEqual([]);
  });
});
