import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_CATALOGUE, type EventType } from '../../../functions/events/events.ts';
import {
  addUsage,
  getLatestMonths,
  isMetered,
  METERED_TYPES,
  type MeteredEvent,
  NO_USAGE,
  sumUsage,
  toMonth,
  type UsageCounts,
} from '../../../functions/events/usage.ts';
import { aBusEvent } from '../../builders.ts';
import { recentTimes, times } from '../aws/arbitraries.ts';

const events: fc.Arbitrary<MeteredEvent[]> = fc.array(
  fc.record({
    id: fc.uuid(),
    type: fc.constantFrom(...METERED_TYPES),
    createdAt: recentTimes.map((time) => time.toISOString()),
  }),
  { maxLength: 30 },
);
const total = (months: Map<string, UsageCounts>): UsageCounts =>
  [...months.values()].reduce(addUsage, NO_USAGE);

describe('metered usage', () => {
  it('consists of new conversations and messages', () => {
    const types = Object.keys(EVENT_CATALOGUE) as EventType[];
    expect(types.filter((type) => isMetered({ type }))).toEqual(['conversation.created', 'message.received']);
    expect(isMetered(aBusEvent({ type: 'source.changed' }))).toBe(false);
  });

  it('counts every message, of any role', () => {
    const messages = (['user', 'assistant', 'agent', 'system'] as const).map((role) =>
      aBusEvent({ data: { role } }),
    );
    expect(total(sumUsage(messages.filter(isMetered)))).toEqual({ conversations: 0, messages: 4 });
  });

  it('counts each event in its month and by its type', () => {
    fc.assert(
      fc.property(events, (given) => {
        const months = sumUsage(given);
        const of = (type: string) => given.filter((event) => event.type === type).length;
        expect(total(months)).toEqual({
          conversations: of('conversation.created'),
          messages: of('message.received'),
        });
        expect(new Set(months.keys())).toEqual(
          new Set(given.map(({ createdAt }) => createdAt.slice(0, '2026-11'.length))),
        );
      }),
    );
  });

  it('is the sum of its parts, for any division into batches', () => {
    fc.assert(
      fc.property(events, fc.nat(30), (given, cut) => {
        const [one, other] = [sumUsage(given.slice(0, cut)), sumUsage(given.slice(cut))];
        for (const [month, counts] of sumUsage(given))
          expect(addUsage(one.get(month) ?? NO_USAGE, other.get(month) ?? NO_USAGE)).toEqual(counts);
      }),
    );
  });
});

describe('months', () => {
  it.each([
    ['2026-10-31T23:59:59.999Z', '2026-10'],
    ['2026-11-01T00:00:00.000Z', '2026-11'],
    ['2027-01-01T00:00:00.000Z', '2027-01'],
  ])('%s is in %s', (time, month) => {
    expect(toMonth(new Date(time))).toBe(month);
  });

  it.each([
    ['2026-11-20T09:30:00.000Z', ['2026-11', '2026-10', '2026-09']],
    ['2026-03-31T23:59:59.999Z', ['2026-03', '2026-02', '2026-01']],
    ['2027-01-01T00:00:00.000Z', ['2027-01', '2026-12', '2026-11']],
    ['2028-02-29T12:00:00.000Z', ['2028-02', '2028-01', '2027-12']],
  ])('back from %s are %j', (now, months) => {
    expect(getLatestMonths(new Date(now), 3)).toEqual(months);
  });

  it('go back without a gap or a repetition, from any day', () => {
    fc.assert(
      fc.property(recentTimes, fc.integer({ min: 1, max: 24 }), (now, count) => {
        const months = getLatestMonths(now, count);
        expect(months[0]).toBe(toMonth(now));
        const numbers = months.map((month) => Number(month.slice(0, 4)) * 12 + Number(month.slice(5)));
        expect(numbers).toEqual(Array.from({ length: count }, (_, back) => Number(numbers[0]) - back));
      }),
    );
  });

  it('are sorted as text', () => {
    fc.assert(
      fc.property(times, times, (one, other) => {
        fc.pre(one < other);
        expect(toMonth(one) <= toMonth(other)).toBe(true);
      }),
    );
  });
});
