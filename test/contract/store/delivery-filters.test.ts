import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId, parseCreationTime } from '../../../functions/aws/ids.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import { type DeliveryFilter, deliveryStore } from '../../../functions/delivery/rows.ts';
import { aDelivery, anEvent, aTenant, later, NOW } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { casesOf } from '../../support/cases.ts';

const engine = dynamoDb();
const tenant = aTenant();
const webhookId = newId('whk', NOW);

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
async function setUp(): Promise<{ list: ReturnType<typeof deliveryStore>['list']; all: Delivery[] }> {
  const { deliveries } = await engine.tables();
  const store = deliveryStore(deliveries);
  const all = Array.from({ length: 240 }, (_, index) =>
    deliveryAt(
      (index * 37) % SPAN,
      index % 60 === 0 ? 'exhausted' : (STATUSES[index % 3] ?? 'pending'),
      TYPES[index % TYPES.length] ?? 'ticket.created',
    ),
  );
  await Promise.all(all.map((delivery) => store.add(delivery)));
  await store.add({ ...deliveryAt(10, 'exhausted', 'ticket.created'), webhookId: newId('whk', NOW) });
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
    const { list, all } = await setUp();
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
    const { list, all } = await setUp();
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
    const { list } = await setUp();
    expect(await list(tenant, webhookId, { limit: 10 }, filter)).toEqual({ items: [] });
  });
});
