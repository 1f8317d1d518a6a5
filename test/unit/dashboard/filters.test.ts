import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Filters,
  filtersIn,
  isLike,
  isNarrowed,
  parametersOf,
  queryOf,
  STATUS_CHOICES,
  TIME_CHOICES,
} from '../../../dashboard/src/pages/deliveries/filters.ts';

const TYPES = ['message.received', 'webhook.test'];
const NOW = Date.parse('2026-11-20T09:30:00.000Z');
const NO_FILTERS: Filters = { status: 'any', event: 'any', time: 'any' };

const someFilters: fc.Arbitrary<Filters> = fc.record({
  status: fc.constantFrom(...(Object.keys(STATUS_CHOICES) as (keyof typeof STATUS_CHOICES)[])),
  event: fc.constantFrom('any', ...TYPES),
  time: fc.constantFrom(...(Object.keys(TIME_CHOICES) as (keyof typeof TIME_CHOICES)[])),
});

describe('filters of deliveries', () => {
  it('survive in the URL', () => {
    fc.assert(
      fc.property(someFilters, (filters) => {
        expect(filtersIn(new URLSearchParams(parametersOf(filters)), TYPES)).toEqual(filters);
      }),
    );
  });

  it("are empty where the URL's values are unknown", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (status, event, time) => {
        fc.pre(!Object.hasOwn(STATUS_CHOICES, status) && !Object.hasOwn(TIME_CHOICES, time));
        const filters = filtersIn(new URLSearchParams({ status, event: `no ${event}`, time }), TYPES);
        expect(filters).toEqual(NO_FILTERS);
        expect(isNarrowed(filters)).toBe(false);
      }),
    );
  });

  it("do not accept a name from an object's prototype", () => {
    const address = new URLSearchParams('status=constructor&time=toString');
    expect(filtersIn(address, TYPES)).toEqual(NO_FILTERS);
  });

  it('send statuses, type and time to the API', () => {
    expect(queryOf({ status: 'failed', event: 'message.received', time: 'day' }, NOW)).toEqual({
      status: 'exhausted,skipped',
      eventType: 'message.received',
      from: '2026-11-19T09:30:00.000Z',
    });
    expect(queryOf(NO_FILTERS, NOW)).toEqual({});
  });

  it('match a delivery that the API would list', () => {
    const statuses = ['pending', 'retrying', 'succeeded', 'exhausted', 'skipped'] as const;
    const delivery = fc.record({
      status: fc.constantFrom(...statuses),
      eventType: fc.constantFrom(...TYPES),
    });
    fc.assert(
      fc.property(someFilters, delivery, (filters, { status, eventType }) => {
        const query = queryOf(filters, NOW);
        const isListed =
          (query.status?.split(',').includes(status) ?? true) && (query.eventType ?? eventType) === eventType;
        expect(isLike(filters, { status, eventType })).toBe(isListed);
      }),
    );
  });
});
