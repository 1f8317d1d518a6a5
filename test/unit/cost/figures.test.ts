import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { figures } from '../../../lib/cost/figures.ts';
import { aWorkload, isClose, MEASURED, workloads } from './workloads.ts';

/** With another batching window of the stalled lane. */
const waitingFor = (windowSeconds: number): typeof MEASURED => ({
  ...MEASURED,
  template: {
    ...MEASURED.template,
    mappings: MEASURED.template.mappings.map((mapping) =>
      mapping.lane === 'stalled' ? { ...mapping, windowSeconds } : mapping,
    ),
  },
});

describe('the cost of a million', () => {
  it('is finite for every month, an empty one included', () => {
    fc.assert(
      fc.property(workloads, (workload) => {
        for (const usd of Object.values(figures(workload, MEASURED))) {
          expect(Number.isFinite(usd)).toBe(true);
          expect(usd).toBeGreaterThan(0);
        }
      }),
    );
  });

  it('does not depend on the volume while batches are as full', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 10_000 }), (batch, factor) => {
        const [few, many] = [1000, 1000 * factor].map((count) =>
          figures(aWorkload({ deliveries: count, messages: count, batch }), MEASURED),
        );
        expect(isClose(few?.firstTry ?? 0, many?.firstTry ?? 0)).toBe(true);
        expect(isClose(few?.timedOutAttempt ?? 0, many?.timedOutAttempt ?? 0)).toBe(true);
      }),
    );
  });

  it('is lower in full batches, above all where a batch waits for a deadline', () => {
    const alone = figures(aWorkload({ batch: 1 }), MEASURED);
    const full = figures(aWorkload({ batch: 10 }), MEASURED);

    expect(full.firstTry).toBeLessThan(alone.firstTry);
    expect(full.timedOutAttempt).toBeLessThan(alone.timedOutAttempt / 2);
    expect(full.message).toBe(alone.message);
  });

  it('falls for time-outs with a longer batching window, and stays the same for others', () => {
    const windows = [0, 5, 20].map((seconds) => figures(aWorkload(), waitingFor(seconds)));
    const [none, some, most] = windows.map(({ timedOutAttempt }) => timedOutAttempt);

    expect(some).toBeLessThan(none ?? 0);
    expect(most).toBeLessThan(some ?? 0);
    expect(new Set(windows.map(({ firstTry }) => firstTry)).size).toBe(1);
  });

  it('falls for time-outs with their number, until batches are full', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-4, max: 0.5, noNaN: true }), (hangingRate) => {
        const [few, many] = [hangingRate, 2 * hangingRate].map((rate) =>
          figures(aWorkload({ hangingRate: rate }), MEASURED),
        );
        expect(many?.timedOutAttempt).toBeLessThanOrEqual((few?.timedOutAttempt ?? 0) * (1 + 1e-9));
      }),
    );
  });

  it('is higher for failures than for successes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), (batch) => {
        const { firstTry, exhausted } = figures(aWorkload({ batch }), MEASURED);
        expect(exhausted).toBeGreaterThan(firstTry);
      }),
    );
  });
});
