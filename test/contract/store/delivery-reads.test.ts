import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId, parseCreationTime } from '../../../functions/aws/ids.ts';
import type { Table } from '../../../functions/aws/table.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import { openDeliveries } from '../../../functions/delivery/delivery-queries.ts';
import {
  deliveriesInHour,
  getLedgerHour,
  toEndOfHour,
  toStartOfHour,
} from '../../../functions/delivery/ledger.ts';
import { type DeliveryFilter, deliveryStore } from '../../../functions/delivery/rows.ts';
import { usageReader } from '../../../functions/events/usage.ts';
import { DELIVERY_SHARDS, keys, listShards } from '../../../functions/tenancy/keys.ts';
import { aDelivery, anEvent, aTenant, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { casesOf } from '../../support/cases.ts';

const engine = dynamoDb();
const tenant = aTenant();
const webhookId = newId('whk', NOW);

/**
 * Stores deliveries if they do not exist. In batches: some engines fail hundreds of puts that wait for one
 * partition.
 */
async function putDeliveries(table: Table, deliveries: readonly Delivery[]): Promise<void> {
  const store = deliveryStore(table);
  const puts = deliveries.map((delivery) => ({
    PutRequest: { Item: store.adding(delivery).write.Put?.Item },
  }));
  for (let first = 0; first < puts.length; first += 25) {
    const { UnprocessedItems = {} } = await table.client.send(
      new BatchWriteCommand({ RequestItems: { [table.name]: puts.slice(first, first + 25) } }),
    );
    if (Object.keys(UnprocessedItems).length > 0) throw new Error('the engine did not take all deliveries');
  }
}

const STATUSES = ['pending', 'retrying', 'succeeded', 'exhausted', 'skipped'] as const;
const TYPES = ['conversation.created', 'message.received', 'ticket.created'] as const;
const SPAN = 400;

/** A delivery of an event of so many milliseconds later. */
function deliveryAt(milliseconds: number, status: Delivery['status'], eventType: Delivery['eventType']) {
  const at = later(NOW, milliseconds);
  // Its event was published later than it happened.
  const createdAt = later(at, 50).toISOString();
  return aDelivery({ eventId: anEvent({ now: at }).id, webhookId, status, eventType, createdAt });
}

/** The fields that filters use, so that the sample includes rare combinations. */
async function aFilteredList(): Promise<{ list: ReturnType<typeof deliveryStore>['list']; all: Delivery[] }> {
  const { deliveries } = await engine.tables();
  const all = Array.from({ length: 240 }, (_, index) =>
    deliveryAt(
      (index * 37) % SPAN,
      index % 60 === 0 ? 'exhausted' : (STATUSES[index % 3] ?? 'pending'),
      TYPES[index % TYPES.length] ?? 'ticket.created',
    ),
  );
  const elsewhere = { ...deliveryAt(10, 'exhausted', 'ticket.created'), webhookId: newId('whk', NOW) };
  await putDeliveries(deliveries, [...all, elsewhere]);
  return { list: deliveryStore(deliveries).list, all };
}

const matches = ({ status, eventType, from, to }: DeliveryFilter) => {
  const within = (time: Date) => (!from || time >= from) && (!to || time < to);
  return (delivery: Delivery): boolean =>
    (!status || status.includes(delivery.status)) &&
    (!eventType || eventType.includes(delivery.eventType)) &&
    within(parseCreationTime(delivery.id));
};

const moment = fc.option(
  fc.integer({ min: -10, max: SPAN + 10 }).map((milliseconds) => later(NOW, milliseconds)),
  { nil: undefined },
);
const filters: fc.Arbitrary<DeliveryFilter> = fc.record({
  status: fc.option(fc.subarray([...STATUSES], { minLength: 1 }), { nil: undefined }),
  eventType: fc.option(fc.subarray([...TYPES], { minLength: 1 }), { nil: undefined }),
  from: moment,
  to: moment,
});

describe('deliveries by status, event type and time', () => {
  it('are exactly those that match, newest first, for all filters and page sizes', async () => {
    const { list, all } = await aFilteredList();
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 1, max: 100 }), async (filter, limit) => {
        const listed: string[] = [];
        let after: string | undefined;
        do {
          const { items, next } = await list(tenant, webhookId, { limit, after }, filter);
          listed.push(...items.map(({ id }) => id));
          after = next;
        } while (after !== undefined);
        const expected = all.filter(matches(filter)).map(({ id }) => id);
        expect(listed).toEqual(expected.sort().reverse());
      }),
      { numRuns: casesOf(12, 40) },
    );
  });

  it('are read completely when only the time is filtered', async () => {
    const { list, all } = await aFilteredList();
    const { items } = await list(tenant, webhookId, { limit: 100 }, { from: later(NOW, SPAN - 5) });
    expect(items.length).toBeGreaterThan(0);
    for (const item of items) expect(all).toContainEqual(item);
  });

  it.each([
    ['before anything was', { to: NOW }],
    ['after everything', { from: later(NOW, SPAN) }],
    ['from a moment to an earlier one', { from: later(NOW, 100), to: later(NOW, 50) }],
    ['at the beginning of all time', { from: new Date(0), to: new Date(0) }],
  ])('are empty %s', async (_, filter) => {
    const { list } = await aFilteredList();
    expect(await list(tenant, webhookId, { limit: 10 }, filter)).toEqual({ items: [] });
  });
});

const HOUR = toStartOfHour(NOW);
const START = new Date(HOUR);
const END = toEndOfHour(HOUR);

/** A delivery of an event of that time. */
const createdAt = (time: Date, changes: Partial<Delivery> = {}): Delivery =>
  aDelivery({ webhookId, eventId: newId('evt', time), ...changes });

async function inHours(deliveries: readonly Delivery[]) {
  const tables = await engine.tables();
  await putDeliveries(tables.deliveries, deliveries);
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
    const { pages } = await inHours([...within, ...beyond]);

    const pagesRead = (await pages()).flat(2);

    expect(byId(pagesRead)).toEqual(byId(within));
    expect(new Set(within.map(getLedgerHour))).toEqual(new Set([HOUR]));
    for (const delivery of beyond) expect(getLedgerHour(delivery)).not.toBe(HOUR);
  });

  it('are of that endpoint and generation only, each in one shard', async () => {
    const ours = Array.from({ length: 40 }, (_, index) => createdAt(later(START, index * 60_000)));
    const theirs = createdAt(NOW, { webhookId: newId('whk', NOW) });
    const reset = createdAt(NOW, { generation: 1 });
    const { pages } = await inHours([...ours, theirs, reset]);

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
    const { pages } = await inHours(large);

    const pagesRead = await pages();

    expect(Math.max(...pagesRead.map((each) => each.length))).toBeGreaterThan(1);
    expect(byId(pagesRead.flat(2))).toEqual(byId(large));
  });
});

const minutesAgo = (minutes: number) => later(NOW, -seconds(60 * minutes));

const buildDelivery = (minutes: number, status: Delivery['status'], changes: Partial<Delivery> = {}) =>
  aDelivery({ eventId: anEvent({ now: minutesAgo(minutes) }).id, webhookId, status, ...changes });

const BUDGET = 200;

async function openOf(deliveries: readonly Delivery[]) {
  const client = engine.client();
  const { deliveries: table } = await engine.tables(client);
  await putDeliveries(table, deliveries);
  let examined = 0;
  client.middlewareStack.add((next) => async (args) => {
    const result = await next(args);
    examined += Number(Object(result.output).ScannedCount ?? 0);
    return result;
  });
  const open = openDeliveries(table);
  const { generation } = aDelivery();
  const time: [Date, Date] = [minutesAgo(60), NOW];
  return {
    examined: () => examined,
    read: async (which: 'oldest' | 'newest', budget = { units: BUDGET }) =>
      (await open({ webhookId, generation }, time, which, budget)).map(({ id }) => id).sort(),
  };
}

describe('the open deliveries to an endpoint', () => {
  it.each(['oldest', 'newest'] as const)(
    'are those without an end, of that endpoint and time (%s)',
    async (which) => {
      const open = [
        buildDelivery(50, 'retrying'),
        buildDelivery(30, 'pending'),
        buildDelivery(10, 'retrying'),
      ];
      const { read } = await openOf([
        ...open,
        buildDelivery(40, 'succeeded'),
        buildDelivery(40, 'exhausted'),
        buildDelivery(40, 'skipped'),
        buildDelivery(90, 'retrying'),
        buildDelivery(20, 'retrying', { webhookId: newId('whk', NOW) }),
        buildDelivery(20, 'retrying', { generation: 7 }),
      ]);
      expect(await read(which)).toEqual(open.map(({ id }) => id).sort());
    },
  );

  it('are found after hundreds that have ended, while the endpoint fails', async () => {
    const ended = Array.from({ length: 800 }, (_, index) => buildDelivery(59 - index / 100, 'exhausted'));
    const open = Array.from({ length: 40 }, (_, index) => buildDelivery(45 - index / 10, 'retrying'));
    const { read } = await openOf([...ended, ...open]);
    expect(await read('oldest')).toEqual(open.map(({ id }) => id).sort());
  });

  it('are found after thousands that have succeeded, with few reads', async () => {
    const before = Array.from({ length: 3000 }, (_, index) => buildDelivery(59 - index / 100, 'succeeded'));
    const outage = Array.from({ length: 400 }, (_, index) => buildDelivery(8 - index / 100, 'retrying'));
    const { read, examined } = await openOf([...before, ...outage]);
    expect((await read('newest')).length).toBe(200);
    expect(examined()).toBe(200);
  });

  it('are not searched beyond a number of rows', async () => {
    const all = Array.from({ length: 3000 }, (_, index) => buildDelivery(59 - index / 1000, 'exhausted'));
    const { read, examined } = await openOf(all);
    expect(await read('oldest')).toEqual([]);
    expect(examined()).toBe(1600);
  });

  it('are not searched when the budget is used up', async () => {
    const all = Array.from({ length: 100 }, (_, index) => buildDelivery(50 - index / 10, 'retrying'));
    const { read } = await openOf(all);
    const budget = { units: 1 };
    expect(await read('oldest', budget)).toHaveLength(100);
    expect(budget.units).toBeLessThan(0);
    expect(await read('oldest', budget)).toEqual([]);
  });
});

/** Reads of a time span, each with an end before its start, which DynamoDB would refuse in a query. */
const READERS: Record<string, (tables: TestTables, from: Date, to: Date) => Promise<unknown>> = {
  'open deliveries': ({ deliveries }, from, to) =>
    openDeliveries(deliveries)({ webhookId, generation: 0 }, [from, to], 'oldest', { units: 1000 }),
  usage: async ({ usage }, from, to) => [
    ...(await usageReader(usage)(tenant.orgId, { from: toMonth(from), to: toMonth(to) })),
  ],
};
const toMonth = (time: Date) => time.toISOString().slice(0, 7);

describe('a time span that ends before it starts', () => {
  // As in the first minute of an hour, when the time a minute ago is in the hour before.
  it.each(Object.entries(READERS))('is empty for %s', async (_, read) => {
    const tables = await engine.tables();
    await putDeliveries(tables.deliveries, [aDelivery({ ...tenant, webhookId })]);
    const result = await read(tables, later(NOW, seconds(30)), later(NOW, -seconds(86_400 * 40)));
    expect(result ?? []).toEqual([]);
  });
});
