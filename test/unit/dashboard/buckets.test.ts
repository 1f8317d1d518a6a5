import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bucketsOf,
  hoursOfBar,
  roundUp,
  successRate,
  totalOf,
} from '../../../dashboard/src/pages/overview/buckets.ts';

const HOUR = 3_600_000;
const FROM = Date.parse('2026-11-19T10:00:00.000Z');
const at = (hour: number): string => new Date(FROM + hour * HOUR).toISOString();

const count = fc.nat(1000);
/** This many hours, some of them without deliveries. */
const someHours = fc.integer({ min: 1, max: 168 }).chain((length) =>
  fc.record({
    length: fc.constant(length),
    hours: fc.uniqueArray(fc.nat(length - 1)).chain((numbers) =>
      fc.tuple(
        ...numbers.map((number) =>
          fc.record({
            hour: fc.constant(at(number)),
            succeeded: count,
            exhausted: count,
            skipped: count,
            pending: count,
          }),
        ),
      ),
    ),
  }),
);

describe('the bars of the overview', () => {
  it('contain every delivery once, in at most as many bars as fit', () => {
    fc.assert(
      fc.property(someHours, fc.integer({ min: 1, max: 200 }), ({ hours, length }, most) => {
        const buckets = bucketsOf(hours, { from: at(0), to: at(length) }, most);
        expect(buckets.length).toBeLessThanOrEqual(most);
        const sum = (all: readonly Parameters<typeof totalOf>[0][]) =>
          all.reduce((total, each) => total + totalOf(each), 0);
        expect(sum(buckets)).toBe(sum(hours));
      }),
    );
  });

  it('are spaced by the stated number of hours', () => {
    fc.assert(
      fc.property(someHours, fc.integer({ min: 1, max: 200 }), ({ hours, length }, most) => {
        const range = { from: at(0), to: at(length) };
        const starts = bucketsOf(hours, range, most).map(({ start }) => start);
        expect(starts).toEqual(starts.map((_, index) => at(index * hoursOfBar(range, most))));
      }),
    );
  });

  it('include hours without deliveries', () => {
    const hour = { hour: at(2), succeeded: 3, exhausted: 1, skipped: 0, pending: 0 };
    const buckets = bucketsOf([hour], { from: at(0), to: at(4) }, 10);
    expect(buckets.map(({ start, succeeded }) => [start, succeeded])).toEqual([
      [at(0), 0],
      [at(1), 0],
      [at(2), 3],
      [at(3), 0],
    ]);
  });

  it('end at a round number that no bar exceeds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 9 }), (value) => {
        const top = roundUp(value);
        expect(top).toBeGreaterThanOrEqual(Math.max(1, value));
        expect(top).toBeLessThanOrEqual(Math.max(1, value * 2));
        expect(String(top)).toMatch(/^\d0*$/);
      }),
    );
  });
});

describe('the success rate', () => {
  it('counts failed and skipped deliveries against it', () => {
    expect(successRate({ succeeded: 3, exhausted: 1, skipped: 0 })).toBe(0.75);
    expect(successRate({ succeeded: 3, exhausted: 1, skipped: 2 })).toBe(0.5);
    expect(successRate({ succeeded: 0, exhausted: 0, skipped: 2 })).toBe(0);
  });

  it('is absent where none has ended', () => {
    expect(successRate({ succeeded: 0, exhausted: 0, skipped: 0 })).toBeUndefined();
  });
});
