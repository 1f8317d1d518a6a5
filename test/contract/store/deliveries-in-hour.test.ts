import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import {
  deliveriesInHour,
  getLedgerHour,
  toEndOfHour,
  toStartOfHour,
} from '../../../functions/delivery/ledger.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import { DELIVERY_SHARDS, keys, listShards } from '../../../functions/tenancy/keys.ts';
import { aDelivery, later, NOW } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';

const engine = dynamoDb();
const HOUR = toStartOfHour(NOW);
const START = new Date(HOUR);
const END = toEndOfHour(HOUR);
const webhookId = newId('whk', NOW);

/** A delivery of an event of that time. */
const createdAt = (time: Date, changes: Partial<Delivery> = {}): Delivery =>
  aDelivery({ webhookId, eventId: newId('evt', time), ...changes });

async function setUp(deliveries: readonly Delivery[]) {
  const tables = await engine.tables();
  const store = deliveryStore(tables.deliveries);
  await Promise.all(deliveries.map((delivery) => store.add(delivery)));
  const read = deliveriesInHour(tables.deliveries);
  return {
    /** The pages of each shard. */
    async pages(generation = 0): Promise<Delivery[][][]> {
      return Promise.all(
        listShards(DELIVERY_SHARDS).map(async (shard) => {
          const pages: Delivery[][] = [];
          let after: Record<string, unknown> | undefined;
          do {
            const page = await read({ webhookId, generation, hour: HOUR }, shard, after);
            pages.push(page.deliveries);
            after = page.next;
          } while (after !== undefined);
          return pages;
        }),
      );
    },
  };
}

const byId = (deliveries: readonly Delivery[]) => deliveries.toSorted((a, b) => (a.id < b.id ? -1 : 1));

describe('the deliveries of an endpoint in an hour', () => {
  it('are those whose event is of the hour, from its first moment to its last', async () => {
    const within = [START, later(START, 1), NOW, later(END, -1)].map((time) => createdAt(time));
    const beyond = [later(START, -1), END, later(END, 1)].map((time) => createdAt(time));
    const { pages } = await setUp([...within, ...beyond]);

    const pagesRead = (await pages()).flat(2);

    expect(byId(pagesRead)).toEqual(byId(within));
    expect(new Set(within.map(getLedgerHour))).toEqual(new Set([HOUR]));
    for (const delivery of beyond) expect(getLedgerHour(delivery)).not.toBe(HOUR);
  });

  it('are of that endpoint and generation only, each in one shard', async () => {
    const ours = Array.from({ length: 40 }, (_, index) => createdAt(later(START, index * 60_000)));
    const theirs = createdAt(NOW, { webhookId: newId('whk', NOW) });
    const reset = createdAt(NOW, { generation: 1 });
    const { pages } = await setUp([...ours, theirs, reset]);

    expect(byId((await pages()).flat(2))).toEqual(byId(ours));
    expect((await pages(1)).flat(2)).toEqual([reset]);
  });

  it('come in as many pages as the page size requires', async () => {
    const delivery = createdAt(NOW);
    const shard = keys.delivery(webhookId, 0, delivery.id).pk;
    const large: Delivery[] = [];
    while (large.length < 5) {
      const delivery = createdAt(NOW, { lastError: 'x'.repeat(300_000) });
      if (keys.delivery(webhookId, 0, delivery.id).pk === shard) large.push(delivery);
    }
    const { pages } = await setUp(large);

    const pagesRead = await pages();

    expect(Math.max(...pagesRead.map((each) => each.length))).toBeGreaterThan(1);
    expect(byId(pagesRead.flat(2))).toEqual(byId(large));
  });
});
