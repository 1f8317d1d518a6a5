import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addDurations,
  countDurations,
  estimateLatency,
} from '../../../functions/delivery/attempt-durations.ts';

const durations = fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 1, maxLength: 200 });
const count = (all: readonly number[]) => countDurations(all.map((durationMs) => ({ durationMs })));

/** The least value that a share of all values does not exceed. */
const quantile = (all: readonly number[], share: number) =>
  all.toSorted((a, b) => a - b)[Math.ceil(share * all.length) - 1] ?? Number.NaN;

describe('latency of attempts', () => {
  it('is within 42 % of the quantiles above 8 ms, for any durations', () => {
    fc.assert(
      fc.property(durations, (all) => {
        const latency = estimateLatency(count(all));
        for (const [estimate, share] of [
          [latency?.p50Ms, 0.5],
          [latency?.p95Ms, 0.95],
        ] as const) {
          const truth = quantile(all, share);
          if (truth > 8) expect(estimate).toBeGreaterThanOrEqual(Math.floor(truth / 1.42));
          expect(estimate).toBeLessThanOrEqual(Math.ceil(Math.max(8, truth) * 1.42));
        }
      }),
    );
  });

  it('is the same of all attempts together as of their sum', () => {
    fc.assert(
      fc.property(durations, durations, (one, other) => {
        expect(addDurations(count(one), count(other))).toEqual(count([...one, ...other]));
      }),
    );
  });

  it('is null without attempts', () => {
    expect(estimateLatency({})).toBeNull();
  });

  it('of 100 equal attempts is near their duration', () => {
    const { p50Ms, p95Ms } = estimateLatency(count(Array(100).fill(120))) ?? { p50Ms: 0, p95Ms: 0 };
    expect(p50Ms).toBeGreaterThan(90);
    expect(p95Ms).toBeLessThan(129);
  });
});
