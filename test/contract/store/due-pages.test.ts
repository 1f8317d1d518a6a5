import { describe, expect, it } from 'vitest';
import { toDeliveryMessage } from '../../../functions/domain/delivery.ts';
import type { DueEntry } from '../../../functions/domain/due.ts';
import { deriveDeliveryId, newId } from '../../../functions/domain/ids.ts';
import { keys } from '../../../functions/store/keys.ts';
import { aDelivery, later, NOW } from '../../builders.ts';
import { everyDue, pagesOf } from './due-entries.ts';
import { type Stores, storeKinds } from './stores.ts';

const SHARD = 7;

/** A delivery that has its entry in the given shard. */
function inShard() {
  for (;;) {
    const eventId = newId('evt', NOW);
    const webhookId = newId('whk', NOW);
    const id = deriveDeliveryId(eventId, webhookId);
    if (keys.dueOf('watched', id) === keys.due('watched', SHARD)) return aDelivery({ eventId, webhookId });
  }
}

/** Watches so many deliveries, some time apart, in another order than their due times. */
async function setUp(
  { deliveries, due }: Stores,
  count: number,
  make: () => ReturnType<typeof aDelivery>,
  apart = 1,
): Promise<DueEntry[]> {
  const made = Array.from({ length: count }, (_, index) => ({
    delivery: make(),
    dueAt: later(NOW, ((index * 37) % count) * apart),
  }));
  await Promise.all(
    made.map(async ({ delivery, dueAt }) => {
      await deliveries.add(delivery);
      await due.watch(delivery, dueAt);
    }),
  );
  return made
    .map(
      ({ delivery, dueAt }): DueEntry => ({
        message: toDeliveryMessage(delivery),
        state: 'watched',
        dueAt: dueAt.toISOString(),
      }),
    )
    .toSorted((a, b) => a.dueAt.localeCompare(b.dueAt));
}

const byId = (found: readonly DueEntry[]) =>
  found.toSorted((a, b) => a.message.id.localeCompare(b.message.id));

describe.each(storeKinds())('a read of the due index (%s)', (_, make) => {
  it('returns all entries of a shard once, the earliest first, in all its pages', async () => {
    const stores = await make();
    const entries = await setUp(stores, 210, inShard);

    const pages = await pagesOf(stores.due, 'watched', SHARD);

    expect(pages.flat()).toEqual(entries);
    expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(100);
  });

  it('returns all entries of one moment once, although they fill more than a page', async () => {
    const stores = await make();
    const entries = await setUp(stores, 130, inShard, 0);

    const pages = await pagesOf(stores.due, 'watched', SHARD);

    expect(byId(pages.flat())).toEqual(byId(entries));
    expect(pages.length).toBeGreaterThan(1);
  });

  it('returns what is due by the given time inclusive, and nothing later', async () => {
    const stores = await make();
    const entries = await setUp(stores, 120, inShard);

    for (const ms of [-1, 0, 50, 110, 119])
      expect((await pagesOf(stores.due, 'watched', SHARD, later(NOW, ms))).flat()).toEqual(
        entries.slice(0, ms + 1),
      );
  });

  it('continues after a page whose entries have changed', async () => {
    const stores = await make();
    const entries = await setUp(stores, 130, inShard);
    const end = later(NOW, 130);

    const first = await stores.due.find('watched', SHARD, end);
    await Promise.all(first.entries.map((entry) => stores.due.postpone(entry, later(NOW, 1000), 'sent')));
    const second = await stores.due.find('watched', SHARD, end, first.next);

    expect([...first.entries, ...second.entries]).toEqual(entries);
    expect(second).not.toHaveProperty('next');
    expect((await stores.due.find('watched', SHARD, end)).entries).toEqual(second.entries);
  });

  it('finds each entry in one shard of one state', async () => {
    const stores = await make();
    const entries = await setUp(stores, 40, aDelivery);

    expect(byId(await everyDue(stores.due, 'watched'))).toEqual(byId(entries));
    expect(await everyDue(stores.due, 'parked')).toEqual([]);
  });

  it('is empty when nothing is due', async () => {
    const { due } = await make();
    expect(await due.find('parked', SHARD, NOW)).toMatchObject({ entries: [] });
  });
});
