import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { toDeliveryMessage } from '../../../functions/domain/delivery.ts';
import { DEFAULT_GRACE_SECONDS, EXPIRY_SECONDS } from '../../../functions/domain/due.ts';
import type { DeadLetter, EntryKey } from '../../../functions/domain/events.ts';
import type { OutboxWork } from '../../../functions/domain/redelivery.ts';
import {
  type DeadEntriesPorts,
  getOutboxWorkName,
  processDeadDeliveryMessage,
  processDeadEntries,
} from '../../../functions/engine/dead-letters.ts';
import { getWorkKey } from '../../../functions/store/outbox.ts';
import { aDelivery, anEvent, later, NOW, seconds } from '../../builders.ts';
import { MemoryDeliveries } from '../../doubles/memory-deliveries.ts';
import { MemoryDueIndex } from '../../doubles/memory-due-index.ts';
import { MemoryEndpoints } from '../../doubles/memory-endpoints.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';

describe('delivery message in the dead-letter queue', () => {
  const aDeadMessage = () => {
    const log = recordedLog();
    const deliveries = new MemoryDeliveries(new MemoryEndpoints());
    const due = new MemoryDueIndex(deliveries, { sharded: false });
    const deal = processDeadDeliveryMessage(
      { due, log, now: () => NOW },
      { graceSeconds: DEFAULT_GRACE_SECONDS },
    );
    return { deliveries, deal, log };
  };

  it('leaves its delivery open, for the reconciler', async () => {
    const { deliveries, deal, log } = aDeadMessage();
    const delivery = aDelivery({ attempts: 2, status: 'retrying' });
    await deliveries.add(delivery);

    await deal(toDeliveryMessage(delivery));

    expect(await deliveries.find(delivery)).toEqual(delivery);
    expect(deliveries.dueOf(delivery)).toEqual({
      state: 'watched',
      dueAt: later(NOW, seconds(DEFAULT_GRACE_SECONDS)).toISOString(),
    });
    expect(log.entries).toMatchObject([{ level: 'warn', fields: { deliveryId: delivery.id } }]);
  });

  it('changes nothing about a delivery that has ended or is in the due index already', async () => {
    const { deliveries, deal } = aDeadMessage();
    const [ended, parked] = [aDelivery({ status: 'succeeded' }), aDelivery({ status: 'retrying' })];
    for (const delivery of [ended, parked]) await deliveries.add(delivery);
    const place = { state: 'parked' as const, dueAt: NOW.toISOString() };
    deliveries.moveDue(parked, undefined, place);

    for (const delivery of [ended, parked, aDelivery()]) await deal(toDeliveryMessage(delivery));

    expect(deliveries.due).toEqual([{ delivery: parked, due: place }]);
  });
});

const anEntry = (now = NOW): OutboxWork => ({ kind: 'event', event: anEvent({ now }) });
const anOrder = (): OutboxWork => ({ kind: 'redelivery', reminder: toDeliveryMessage(aDelivery()) });

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
  const postponed: EntryKey[][] = [];
  const kept: OutboxWork[] = [];
  const deal = processDeadEntries({
    stream: { read: async () => kept },
    outbox: { find: async (key) => kept.find((work) => isDeepStrictEqual(getWorkKey(work), key)) },
    async process(work) {
      tried.push(...work);
      return work.filter((each) => failing.includes(each));
    },
    async postpone(keys) {
      postponed.push([...keys]);
    },
    getKey: getWorkKey,
    getName: getOutboxWorkName,
    log,
    now: () => NOW,
    ...replaced,
  });
  return { deal, kept, tried, postponed, log };
}

describe('stream records that an outbox reader failed on', () => {
  it('are processed once more, and removed after a success', async () => {
    const { deal, kept, tried, postponed } = aReader([]);
    kept.push(anEntry(), anOrder());

    expect(await deal(RECORDS)).toBe(0);

    expect(tried).toEqual(kept);
    expect(postponed).toEqual([]);
  });

  it('are stored by their keys when they fail again, because the stream drops them', async () => {
    const failing = [anEntry(), anOrder()];
    const { deal, kept, postponed } = aReader(failing);
    kept.push(anEntry(), ...failing, anEntry());

    expect(await deal(RECORDS)).toBe(0);

    expect(postponed).toEqual([failing.map(getWorkKey)]);
  });

  it('are given up with an error when the stream has dropped them', async () => {
    const { deal, tried, log } = aReader([], { stream: { read: async () => undefined } });

    expect(await deal(RECORDS)).toBe(1);

    expect(tried).toEqual([]);
    expect(log.entries).toMatchObject([
      { level: 'error', fields: { shardId: 'shardId-1', startSequenceNumber: '1', endSequenceNumber: '9' } },
    ]);
  });

  it('stay in their queue when they can be neither processed nor stored', async () => {
    const failing = anEntry();
    const { deal, kept } = aReader([failing], {
      async postpone() {
        throw new Error('the queue is down');
      },
    });
    kept.push(failing);

    await expect(deal(RECORDS)).rejects.toThrow('the queue is down');
  });
});

describe('outbox entries that a reader failed on twice', () => {
  it('are found by their keys and processed', async () => {
    const { deal, kept, tried, postponed } = aReader([]);
    kept.push(anEntry(), anOrder());

    expect(await deal(entries(...kept))).toBe(0);

    expect(tried).toEqual(kept);
    expect(postponed).toEqual([]);
  });

  it('are postponed again, but only those that fail again', async () => {
    const failing = anEntry();
    const { deal, kept, postponed } = aReader([failing]);
    kept.push(anEntry(), failing);

    expect(await deal(entries(...kept))).toBe(0);

    expect(postponed).toEqual([[getWorkKey(failing)]]);
  });

  it('are given up with an error after three days, and not before', async () => {
    const old = anEntry(later(NOW, -seconds(EXPIRY_SECONDS) - 1));
    const young = anEntry(later(NOW, -seconds(EXPIRY_SECONDS)));
    const { deal, kept, postponed, log } = aReader([old, young]);
    kept.push(old, young);

    expect(await deal(entries(old, young))).toBe(1);

    expect(postponed).toEqual([[getWorkKey(young)]]);
    expect(log.entries).toMatchObject([{ level: 'error', fields: { id: getWorkKey(old).sk } }]);
  });

  it('are processed even when they are old, since the dependency may be back', async () => {
    const old = anEntry(later(NOW, -seconds(EXPIRY_SECONDS) - 1));
    const { deal, kept, tried } = aReader([]);
    kept.push(old);

    expect(await deal(entries(old))).toBe(0);
    expect(tried).toEqual([old]);
  });

  it('are ignored when they are gone from the outbox', async () => {
    const { deal, tried, postponed } = aReader([]);

    expect(await deal(entries(anEntry()))).toBe(0);

    expect(tried).toEqual([]);
    expect(postponed).toEqual([]);
  });
});
