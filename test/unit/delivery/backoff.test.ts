import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  computeVisibilitySeconds,
  DEFAULT_RETRY_POLICY,
  scheduleNextAttempt,
} from '../../../functions/delivery/timing.ts';
import { later, NOW } from '../../builders.ts';
import { recentTimes } from '../aws/arbitraries.ts';

const waitAfter = (attempt: number, policy = DEFAULT_RETRY_POLICY): number =>
  (scheduleNextAttempt(attempt, NOW, policy).getTime() - NOW.getTime()) / 1000;

describe('wait between attempts', () => {
  it('is 30 seconds, doubled each time, and an hour at most', () => {
    const waits = Array.from({ length: 12 }, (_, index) => waitAfter(index + 1));
    expect(waits).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600, 3600]);
  });

  it('never shrinks, and stays between base and cap of any policy', () => {
    const policies = fc
      .tuple(
        fc.double({ min: 0.001, max: 60, noNaN: true }),
        fc.double({ min: 1, max: 1_000, noNaN: true }),
        fc.integer({ min: 1, max: 40 }),
      )
      .map(([baseSeconds, factor, maxAttempts]) => ({
        baseSeconds,
        capSeconds: baseSeconds * factor,
        maxAttempts,
      }));
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 2_000 }), (policy, attempt) => {
        const wait = waitAfter(attempt, policy);
        expect(wait).toBeGreaterThanOrEqual(policy.baseSeconds);
        expect(wait).toBeLessThanOrEqual(policy.capSeconds + 0.001);
        expect(waitAfter(attempt + 1, policy)).toBeGreaterThanOrEqual(wait);
      }),
    );
  });
});

describe('visibility timeout of a message', () => {
  it('never ends early, nor a whole second late, up to the limit of SQS', () => {
    fc.assert(
      fc.property(recentTimes, fc.integer({ min: 1, max: 42_300_000 }), (now, milliseconds) => {
        const hidden = computeVisibilitySeconds(later(now, milliseconds), now) * 1000;
        expect(hidden).toBeGreaterThanOrEqual(milliseconds);
        expect(hidden).toBeLessThan(milliseconds + 1000);
      }),
    );
  });

  it.each([
    [-1, 0],
    [0, 0],
    [1, 1],
    [1_000, 1],
    [1_001, 2],
    [30_000, 30],
    [42_300_000, 42_300],
    [42_300_001, 42_300],
  ])('for %i ms is %i s', (milliseconds, expected) => {
    expect(computeVisibilitySeconds(later(NOW, milliseconds), NOW)).toBe(expected);
  });
});
