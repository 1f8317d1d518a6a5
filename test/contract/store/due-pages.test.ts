import { describe, expect, it } from 'vitest';
import { deriveDeliveryId, newId, type OrgId } from '../../../functions/aws/ids.ts';
import { toDeliveryMessage } from '../../../functions/delivery/delivery.ts';
import type { DueEntry, DueRange } from '../../../functions/delivery/due-index.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aDelivery, later, NOW } from '../../builders.ts';
import { pagesOf } from './due-entries.ts';
import { newStores, type Stores } from './stores.ts';

const make = newStores();

const SHARD = 7;

const BUSY = newId('org', NOW);

/** A delivery that has its entry in the given shard. */
function inShard(orgId: OrgId = BUSY) {
  for (;;) {
    const eventId = newId('evt', NOW);
    const webhookId = newId('whk', NOW);
    const id = deriveDeliveryId(eventId, webhookId);
    if (keys.dueOf('watched', id) === keys.due('watched', SHARD))
      return aDelivery({ orgId, eventId, webhookId });
  }
}

/** Watches so many deliveries, some time apart, in another order than their due times. */
async function setUp(
  { deliveries, due }: Stores,
  count: number,
  make: (index: number) => ReturnType<typeof aDelivery>,
  apart = 1,
): Promise<DueEntry[]> {
  const made = Array.from({ length: count }, (_, index) => ({
    delivery: make(index),
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

const ofOne = () => inShard();

const byId = (entries: readonly DueEntry[]) =>
  entries.toSorted((a, b) => a.message.id.localeCompare(b.message.id));

describe('a read of the due index', () => {
  it('returns all entries of an organization once, the earliest first, in all its pages', async () => {
    const stores = await make();
    const entries = await setUp(stores, 210, ofOne);

    const pages = await pagesOf(stores.due, 'watched', SHARD);

    expect(pages.flat()).toEqual(entries);
    expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(100);
  });

  it('returns all entries of one moment once, although they fill more than a page', async () => {
    const stores = await make();
    const entries = await setUp(stores, 130, ofOne, 0);

    const pages = await pagesOf(stores.due, 'watched', SHARD);

    expect(byId(pages.flat())).toEqual(byId(entries));
    expect(pages.length).toBeGreaterThan(1);
  });

  it('returns what is due by the given time inclusive, and nothing later', async () => {
    const stores = await make();
    const entries = await setUp(stores, 12, ofOne);

    for (const ms of [-1, 0, 5, 11])
      expect((await pagesOf(stores.due, 'watched', SHARD, later(NOW, ms))).flat()).toEqual(
        entries.slice(0, ms + 1),
      );
  });

  it('returns a share of each organization before more of any, however much one has waiting', async () => {
    const stores = await make();
    const others = Array.from({ length: 130 }, () => newId('org', NOW));
    const entries = await setUp(stores, 430, (index) => inShard(others[index - 300]));

    const ids: string[] = [];
    let position: DueRange | undefined;
    do {
      const page = await stores.due.find('watched', SHARD, later(NOW, 1000), position);
      ids.push(...page.entries.map(({ message: { orgId } }) => orgId));
      position = page.next;
    } while (position !== undefined);

    expect(new Set(ids)).toEqual(new Set([BUSY, ...others]));
    expect(ids.filter((orgId) => orgId === BUSY).length).toBeLessThan(20);
    expect(byId((await pagesOf(stores.due, 'watched', SHARD)).flat())).toEqual(byId(entries));
  });

  it('skips what is not due of an organization that has much of it', async () => {
    const stores = await make();
    await setUp(stores, 210, ofOne, 1000);
    const other = newId('org', NOW);
    await setUp(stores, 1, () => inShard(other));

    const due = (await pagesOf(stores.due, 'watched', SHARD, NOW)).flat();

    expect(due.map(({ message: { orgId } }) => orgId).toSorted()).toEqual([BUSY, other].toSorted());
  });

  it('continues after a page whose entries have changed', async () => {
    const stores = await make();
    const entries = await setUp(stores, 130, ofOne);
    const end = later(NOW, 130);

    const readEntries: DueEntry[] = [];
    const positions: (DueRange | undefined)[] = [undefined];
    for (let read = 0; read < positions.length; read += 1) {
      const {
        entries: page,
        next,
        more = [],
      } = await stores.due.find('watched', SHARD, end, positions[read]);
      await Promise.all(page.map((entry) => stores.due.postpone(entry, later(NOW, 1000), 'sent')));
      readEntries.push(...page);
      positions.push(...(next === undefined ? [] : [next]), ...more);
    }

    expect(readEntries).toEqual(entries);
    expect(await stores.due.find('watched', SHARD, end)).toMatchObject({ entries: [] });
  });
});
