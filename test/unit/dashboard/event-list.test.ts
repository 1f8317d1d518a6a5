import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DeliverySummary,
  type ListedEvent,
  openDeliveries,
} from '../../../dashboard/src/api/open-deliveries.ts';
import { STATUSES } from '../../../dashboard/src/pages/deliveries/statuses.ts';
import { eventSource, MAX_POOR_PAGES } from '../../../dashboard/src/pages/events/event-source.ts';
import {
  conversationIn,
  filtersIn,
  isLike,
  OUTCOME_CHOICES,
  parametersOf,
} from '../../../dashboard/src/pages/events/filters.ts';
import { receiptsOf, receiverOf } from '../../../dashboard/src/pages/events/outcomes.ts';
import { NOW } from './followed-listing.ts';

const TYPES = ['ticket.created', 'message.received'];
const ANY = { type: 'any', endpoint: 'any', outcome: 'any', time: 'any', from: 'any', to: 'any' } as const;
const hour = (back: number) => new Date(NOW - back * 3_600_000).toISOString();
const hex = (number: number): string => number.toString(16).padStart(32, '0');
const endpointId = (number: number): `whk_${string}` => `whk_${hex(number)}`;

const aSummary = fc
  .record({
    number: fc.nat(),
    receiver: fc.integer({ min: 1, max: 4 }),
    status: fc.constantFrom<DeliverySummary['status']>(
      'pending',
      'retrying',
      'succeeded',
      'exhausted',
      'skipped',
    ),
  })
  .map(
    ({ number, receiver, status }) =>
      ({
        id: `dlv_${hex(number)}`,
        webhookId: endpointId(receiver),
        channelId: null,
        status,
      }) as DeliverySummary,
  );

const aListed = fc
  .record({
    type: fc.constantFrom(...TYPES),
    deliveries: fc.uniqueArray(aSummary, { selector: ({ id }) => id, maxLength: 8 }),
  })
  .map(
    (given) =>
      ({
        id: `evt_${hex(1)}`,
        createdAt: new Date(NOW).toISOString(),
        ...given,
      }) as ListedEvent,
  );

describe('what became of an event', () => {
  it('is said once of each receiver, with the delivery that arrived if there is one', () => {
    fc.assert(
      fc.property(aListed, (event) => {
        const receipts = receiptsOf(event);
        const receivers = new Set(event.deliveries.map(receiverOf));
        expect(receipts.map(({ receiverId }) => receiverId).toSorted()).toEqual([...receivers].toSorted());
        for (const { receiverId, delivery } of receipts) {
          const own = event.deliveries.filter((each) => receiverOf(each) === receiverId);
          const arrived = own.some(({ status }) => status === 'succeeded');
          expect(delivery.status === 'succeeded').toBe(arrived);
          if (!arrived) expect(own.every(({ id }) => id <= delivery.id)).toBe(true);
        }
      }),
    );
  });

  it('begins with what failed, then what was skipped, and ends with what arrived', () => {
    fc.assert(
      fc.property(aListed, (event) => {
        const order = receiptsOf(event).map(({ delivery }) =>
          ['exhausted', 'skipped', 'retrying', 'pending', 'succeeded'].indexOf(delivery.status),
        );
        expect(order).toEqual(order.toSorted((one, other) => one - other));
      }),
    );
  });

  it('is good where the endpoint that took the place of a disabled or deleted one has received it', () => {
    const url = 'https://receiver.example/hooks';
    const lost = { receiverStatus: 'auto_disabled', status: 'exhausted', url } as const;
    const arrived = { receiverStatus: 'active', status: 'succeeded', url } as const;
    const look = (old: object, next: object) => {
      const deliveries = [old, next].map(
        (part, index) =>
          ({
            id: `dlv_${hex(index)}`,
            webhookId: endpointId(index),
            channelId: null,
            ...part,
          }) as DeliverySummary,
      );
      const event = { type: 'ticket.created' as const, deliveries };
      return (['failed', 'skipped'] as const).some((outcome) => isLike({ ...ANY, outcome }, event));
    };
    for (const status of ['exhausted', 'skipped'] as const) {
      expect(look({ ...lost, status }, arrived)).toBe(false);
      expect(look({ ...lost, status, receiverStatus: 'deleted' }, arrived)).toBe(false);
      expect(look({ ...lost, status }, { ...arrived, status: 'retrying' })).toBe(true);
      expect(look({ ...lost, status }, { ...arrived, url: `${url}/other` })).toBe(true);
      // Both receive each event while one replaces the other.
      expect(look({ ...lost, status, receiverStatus: 'active' }, arrived)).toBe(true);
    }
  });

  it('is open while a delivery is in progress, or so young that deliveries may come into being', () => {
    const event = { createdAt: new Date(NOW).toISOString(), deliveries: [] };
    expect(openDeliveries(event, NOW + 19_000)).toHaveLength(1);
    expect(openDeliveries(event, NOW + 20_000)).toEqual([]);
    fc.assert(
      fc.property(aListed, (listed) => {
        fc.pre(listed.deliveries.length > 0);
        expect(openDeliveries(listed, NOW).length > 0).toBe(
          listed.deliveries.some(({ status }) => STATUSES[status].outcome === 'open'),
        );
      }),
    );
  });
});

describe('filters of events', () => {
  it('leave no event out of all outcomes, and no event has an outcome beside none', () => {
    fc.assert(
      fc.property(aListed, fc.constantFrom('any', endpointId(1)), (event, endpoint) => {
        const fitting = OUTCOME_CHOICES.filter(
          (outcome) => outcome !== 'any' && isLike({ ...ANY, endpoint, outcome }, event),
        );
        expect(fitting.length).toBeGreaterThan(0);
        expect(fitting.includes('none')).toBe(fitting.length === 1 && fitting[0] === 'none');
        expect(isLike(ANY, event)).toBe(true);
      }),
    );
  });

  it('distinguish what was skipped from what failed', () => {
    fc.assert(
      fc.property(aListed, (event) => {
        const isSkipped = receiptsOf(event).some(({ delivery }) => delivery.status === 'skipped');
        expect(isLike({ ...ANY, outcome: 'skipped' }, event)).toBe(isSkipped);
      }),
    );
  });

  it('ask at one endpoint only what became of an event there', () => {
    fc.assert(
      fc.property(aListed, fc.constantFrom(...OUTCOME_CHOICES), (event, outcome) => {
        const endpoint = endpointId(2);
        const there = event.deliveries.filter(({ webhookId }) => webhookId === endpoint);
        expect(isLike({ ...ANY, endpoint, outcome }, event)).toBe(
          isLike({ ...ANY, endpoint, outcome }, { ...event, deliveries: there }),
        );
        if (outcome === 'any') expect(isLike({ ...ANY, endpoint }, event)).toBe(there.length > 0);
      }),
    );
  });

  it('are read from any address, and written so that they are read again', () => {
    fc.assert(
      fc.property(
        fc.record({
          type: fc.oneof(fc.constantFrom(...TYPES), fc.string()),
          endpoint: fc.oneof(fc.constant(endpointId(7)), fc.string()),
          outcome: fc.oneof(fc.constantFrom(...OUTCOME_CHOICES), fc.string()),
          time: fc.oneof(fc.constantFrom('hour', 'day'), fc.string()),
          from: fc.oneof(fc.constant(hour(3)), fc.string()),
          to: fc.oneof(fc.constant(hour(2)), fc.string()),
        }),
        (given) => {
          const filters = filtersIn(new URLSearchParams(given), TYPES);
          expect(filtersIn(new URLSearchParams(parametersOf(filters)), TYPES)).toEqual(filters);
        },
      ),
    );
  });

  it('take a conversation only in the form of its identifier', () => {
    const read = (conversation: string) => conversationIn(new URLSearchParams({ conversation }));
    expect(read(`cnv_${hex(5)}`)).toBe(`cnv_${hex(5)}`);
    for (const other of [`whk_${hex(5)}`, `cnv_${hex(5)}0`, 'cnv_', '']) expect(read(other)).toBeUndefined();
  });
});

describe('a list of events', () => {
  const { signal } = new AbortController();
  const aPage = (back: number, statuses: DeliverySummary['status'][]) => ({
    rows: statuses.map(
      (status, index) =>
        ({
          id: `evt_${hex(1000 - back)}`,
          createdAt: hour(back),
          type: 'ticket.created',
          deliveries: [{ id: `dlv_${hex(index)}`, webhookId: endpointId(1), channelId: null, status }],
        }) as ListedEvent,
    ),
    next: 'more',
    at: NOW,
  });

  it('knows how far a search came that finds little, and forgets it where much is found', async () => {
    const pages = [
      ...Array.from({ length: MAX_POOR_PAGES }, (_, back) =>
        aPage(back, ['succeeded', 'succeeded', 'exhausted']),
      ),
      aPage(MAX_POOR_PAGES, ['exhausted', 'exhausted']),
    ];
    const reads = { page: async () => pages.shift() ?? expect.fail(), one: async () => undefined };
    const source = eventSource({ ...ANY, outcome: 'failed' }, reads, () => NOW);
    for (let page = 1; page <= MAX_POOR_PAGES; page += 1) {
      expect((await source.page({ cursor: 'more' }, signal)).rows).toHaveLength(1);
      expect(source.search).toEqual({ reached: hour(page - 1), poorPages: page });
    }
    await source.page({ cursor: 'more' }, signal);
    expect(source.search).toEqual({ reached: hour(MAX_POOR_PAGES), poorPages: 0 });
  });

  it('does not count what it looks for at its top', async () => {
    const reads = { page: async () => aPage(0, ['succeeded']), one: async () => undefined };
    const source = eventSource({ ...ANY, outcome: 'failed' }, reads, () => NOW);
    await source.page({ from: NOW - 15_000 }, signal);
    expect(source.search).toEqual({ reached: undefined, poorPages: 0 });
  });

  it('asks the API for type and time, and never for what is before the chosen time', async () => {
    const asked: object[] = [];
    const reads = {
      page: async (query: object) => {
        asked.push(query);
        return aPage(0, []);
      },
      one: async () => undefined,
    };
    const source = eventSource({ ...ANY, type: 'ticket.created', time: 'hour' }, reads, () => NOW);
    await source.page({ to: NOW }, signal);
    await source.page({ from: NOW - 86_400_000 }, signal);
    expect(asked).toMatchObject([
      { type: 'ticket.created', from: hour(1), to: hour(0) },
      { type: 'ticket.created', from: hour(1) },
    ]);
  });

  it('of a time of its own asks for no event after it', async () => {
    const asked: object[] = [];
    const reads = {
      page: async (query: object) => {
        asked.push(query);
        return aPage(2, []);
      },
      one: async () => undefined,
    };
    const source = eventSource({ ...ANY, from: hour(3), to: hour(2) }, reads, () => NOW);
    await source.page({}, signal);
    expect(await source.page({ from: NOW - 15_000 }, signal)).toMatchObject({ rows: [], next: null });
    expect(asked).toMatchObject([{ from: hour(3), to: hour(2) }]);
  });
});
