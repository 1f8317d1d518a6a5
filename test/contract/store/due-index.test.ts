import { describe, expect, it } from 'vitest';
import { type Delivery, SkipReason, toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import type { DueEntry } from '../../../functions/delivery/due-index.ts';
import type { Settlement } from '../../../functions/delivery/settle.ts';
import { DEFAULT_GRACE_SECONDS } from '../../../functions/delivery/timing.ts';
import { aDelivery, later, NOW, seconds } from '../../builders.ts';
import {
  claimAgain,
  claimed,
  exhausted,
  LEASE_END,
  LEASE_SECONDS,
  RETRY,
  retryingIn,
  succeeded,
  TRACE,
} from './attempts.ts';
import { placesOf } from './due-entries.ts';
import { newStores, type Stores } from './stores.ts';

const make = newStores();

const LOST = later(NOW, seconds(DEFAULT_GRACE_SECONDS));
const LATER = later(LOST, seconds(3600));
const watchedAt = (delivery: Delivery, dueAt: Date) => ({
  message: toDeliveryMessage(delivery),
  state: 'watched',
  dueAt: dueAt.toISOString(),
});
const parkedAt = (delivery: Delivery, dueAt: Date) => ({ ...watchedAt(delivery, dueAt), state: 'parked' });

/** @throws unless the delivery has one entry */
function only(entries: DueEntry[]): DueEntry {
  const [entry, ...more] = entries;
  if (entry === undefined || more.length > 0) throw new Error('the delivery was to have one entry');
  return entry;
}

/**
 * All operations that end a delivery that was claimed under an unexpired lease, or whose last worker was
 * lost.
 */
const ends: [name: string, end: (stores: Stores, delivery: Delivery) => Promise<unknown>][] = [
  ['a success', settleLast(succeeded)],
  ['the last failure', settleLast(exhausted)],
  [
    'the loss of its last worker',
    async ({ deliveries }, delivery) => {
      await claimAgain({ deliveries }, delivery, RETRY);
      return deliveries.exhaust(delivery, later(RETRY, seconds(LEASE_SECONDS)), TRACE);
    },
  ],
  ...SkipReason.options.map((reason): [string, (stores: Stores, delivery: Delivery) => Promise<unknown>] => [
    `skipping it as ${reason}`,
    ({ deliveries }, delivery) => deliveries.skip(delivery, reason, LEASE_END),
  ]),
  [
    'the reconciler',
    async ({ due }, delivery) => {
      const [entry] = await placesOf(due, delivery);
      return entry && due.expire(entry, LEASE_END);
    },
  ],
];

function settleLast(settlement: Settlement) {
  return async (stores: Stores, delivery: Delivery) => {
    const claim = await claimAgain(stores, delivery, RETRY);
    return stores.deliveries.settle(claim, { ...settlement, at: later(RETRY, 1) }, TRACE);
  };
}

describe('the due index', () => {
  async function setUp(changes: Partial<Delivery> = {}) {
    const stores = await make();
    const delivery = aDelivery(changes);
    await stores.deliveries.add(delivery);
    const places = () => placesOf(stores.due, delivery);
    return { ...stores, stores, delivery, places };
  }

  /** A delivery that waits for its last attempt. */
  async function setUpWaiting(hold: 'hidden' | 'delayed' | 'parked') {
    const stores = await make();
    const claim = await claimed(stores, { attempts: 6 });
    await stores.deliveries.settle(claim, retryingIn(hold), TRACE);
    const places = () => placesOf(stores.due, claim);
    return { ...stores, stores, delivery: claim, places };
  }

  it.each(['pending', 'retrying'] as const)('watches a %s delivery', async (status) => {
    const { due, delivery, deliveries, places } = await setUp({ status });

    await due.watch(delivery, LOST);

    expect(await places()).toEqual([watchedAt(delivery, LOST)]);
    expect(await deliveries.find(delivery)).toEqual(delivery);
  });

  it('creates no delivery that does not exist', async () => {
    const { due, deliveries } = await make();
    const delivery = aDelivery();

    await due.watch(delivery, LOST);

    expect(await deliveries.find(delivery)).toBeUndefined();
    expect(await placesOf(due, delivery)).toEqual([]);
  });

  it('keeps the entry when a delivery is watched again', async () => {
    const { due, delivery, places } = await setUp();

    await due.watch(delivery, LOST);
    await due.watch(delivery, LATER);

    expect(await places()).toEqual([watchedAt(delivery, LOST)]);
  });

  it.each(['hidden', 'delayed'] as const)(
    'watches a delivery with a %s message for its retry until a grace after it',
    async (hold) => {
      const { delivery, places } = await setUpWaiting(hold);
      expect(await places()).toEqual([watchedAt(delivery, later(RETRY, seconds(DEFAULT_GRACE_SECONDS)))]);
    },
  );

  it('has a parked delivery at its next attempt', async () => {
    const { delivery, places } = await setUpWaiting('parked');
    expect(await places()).toEqual([parkedAt(delivery, RETRY)]);
  });

  it('replaces the entry after the next attempt', async () => {
    const { stores, delivery, places } = await setUpWaiting('parked');
    const second = await claimAgain(stores, delivery, RETRY);
    expect(await places()).toEqual([parkedAt(delivery, RETRY)]);

    const [at, nextRetryAt] = [later(RETRY, seconds(1)), later(RETRY, seconds(61))];
    const again = { ...retryingIn('hidden'), at, nextRetryAt };
    await stores.deliveries.settle(second, again, TRACE);

    expect(await places()).toEqual([watchedAt(delivery, later(nextRetryAt, seconds(DEFAULT_GRACE_SECONDS)))]);
  });

  it.each(ends)('removes the entry of a watched or parked delivery that ends by %s', async (_name, end) => {
    for (const hold of ['hidden', 'parked'] as const) {
      const { stores, delivery, places } = await setUpWaiting(hold);

      expect(await end(stores, delivery)).toBe('done');

      expect(await places()).toEqual([]);
      expect(await stores.deliveries.find(delivery)).not.toHaveProperty('parked');
    }
  });

  it('makes a parked delivery watched when its entry is postponed as sent', async () => {
    const { due, deliveries, delivery, places } = await setUpWaiting('parked');
    const entry = only(await places());

    await due.postpone(entry, LATER, 'sent');

    expect(await places()).toEqual([watchedAt(delivery, LATER)]);
    const stored = await deliveries.find(delivery);
    expect(stored).toMatchObject({ status: 'retrying', nextRetryAt: RETRY.toISOString() });
    expect(stored).not.toHaveProperty('parked');
  });

  it('marks an entry whose message was deferred the last time', async () => {
    const { due, places } = await setUpWaiting('parked');
    const postpone = async (reason: 'sent' | 'deferred') => {
      const entry = only(await places());
      await due.postpone(entry, LATER, reason);
      return await places();
    };

    expect(await postpone('deferred')).toMatchObject([{ isDeferred: true }]);
    expect(await postpone('deferred')).toMatchObject([{ isDeferred: true }]);
    expect((await postpone('sent'))[0]).not.toHaveProperty('isDeferred');
  });

  it.each(['hidden', 'parked'] as const)(
    'keeps the mark when an attempt fails and its retry is %s, because no message was sent since',
    async (hold) => {
      const stores = await make();
      const claim = await claimed(stores);
      await stores.due.watch(claim, LOST);
      const entry = only(await placesOf(stores.due, claim));
      await stores.due.postpone(entry, LATER, 'deferred');

      expect(await stores.deliveries.settle(claim, retryingIn(hold), TRACE)).toBe('done');

      expect(await placesOf(stores.due, claim)).toMatchObject([{ isDeferred: true }]);
    },
  );

  it('keeps an entry that has changed since it was read', async () => {
    const { due, delivery, places } = await setUpWaiting('parked');
    const stored = only(await places());
    await due.postpone(stored, LOST, 'sent');

    await due.postpone(stored, LATER, 'sent');
    await due.postpone({ ...stored, dueAt: LOST.toISOString() }, LATER, 'sent');
    await due.postpone({ ...stored, state: 'watched' }, LATER, 'sent');

    expect(await places()).toEqual([watchedAt(delivery, LOST)]);
  });

  it('does not expire a delivery whose entry has changed since it was read', async () => {
    const { due, places } = await setUpWaiting('parked');
    const stored = only(await places());
    await due.postpone(stored, LATER, 'deferred');

    expect(await due.expire(stored, LEASE_END)).toBe('refused');

    expect(await places()).toMatchObject([{ dueAt: LATER.toISOString(), isDeferred: true }]);
  });

  it('does not expire a delivery during an attempt', async () => {
    const stores = await make();
    const claim = await claimed(stores);
    await stores.due.watch(claim, LOST);
    const entry = only(await placesOf(stores.due, claim));

    expect(await stores.due.expire(entry, later(LEASE_END, -1))).toBe('refused');
    expect(await placesOf(stores.due, claim)).toEqual([watchedAt(claim, LOST)]);

    expect(await stores.due.expire(entry, LEASE_END)).toBe('done');
    expect(await stores.deliveries.find(claim)).toMatchObject({
      status: 'skipped',
      terminalReason: 'expired',
    });
  });
});
