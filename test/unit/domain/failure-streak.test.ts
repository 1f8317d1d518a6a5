import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AT_RISK_SECONDS,
  computeUnseenSeconds,
  isKnownAtRisk,
  isTooQuickToSee,
  mayExhaustSoon,
  needsRiskMark,
} from '../../../functions/domain/failure-streak.ts';
import { deriveAttemptClocks } from '../../../functions/domain/timing.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';

const attempts = fc.double({ min: 0.1, max: 60, noNaN: true });
const atRiskFor = (count: number) => ({ atRiskUntil: later(NOW, seconds(count)).toISOString() });
const unseen = (changes: Parameters<typeof anEndpoint>[0], elapsed: number, attempt = 10) =>
  isTooQuickToSee(anEndpoint(changes), NOW, later(NOW, seconds(elapsed)), attempt);

describe('success that does not read its endpoint', () => {
  it('ends before a failure that has waited, including the staleness of a read', () => {
    // The endpoint was read just before the mark was written, or the read returned a state of up to a second
    // before (DynamoDB: usually within one second).
    fc.assert(
      fc.property(attempts, fc.double({ min: 0, max: 70, noNaN: true }), (attempt, elapsed) => {
        fc.pre(unseen({}, elapsed, attempt));
        expect(elapsed).toBeLessThan(computeUnseenSeconds(attempt));
      }),
    );
    expect(unseen({}, computeUnseenSeconds(10) - 1.9)).toBe(false);
  });

  it('is one at an endpoint without failures, streak and mark', () => {
    expect(unseen({}, 0.2)).toBe(true);
    expect(unseen({ consecutiveFailures: 1 }, 0.2)).toBe(false);
    expect(unseen({ streak: 'a-streak' }, 0.2)).toBe(false);
    expect(unseen(atRiskFor(1), 0.2)).toBe(false);
    expect(unseen(atRiskFor(0), 0.2)).toBe(true);
  });
});

describe('failure', () => {
  it('waits for less time than its worker has left after an attempt', () => {
    fc.assert(
      fc.property(attempts, (attempt) => {
        const { functionTimeout } = deriveAttemptClocks(attempt);
        expect(attempt + computeUnseenSeconds(attempt)).toBeLessThan(functionTimeout - 5);
      }),
    );
  });

  it('does not wait at an endpoint whose mark is old and not about to end', () => {
    for (const [left, isKnown] of [
      [AT_RISK_SECONDS, false],
      [AT_RISK_SECONDS - 299, false],
      [AT_RISK_SECONDS - 300, true],
      [601, true],
      [600, false],
      [-1, false],
    ] as const)
      expect([left, isKnownAtRisk(atRiskFor(left), NOW)]).toEqual([left, isKnown]);
    expect(isKnownAtRisk({}, NOW)).toBe(false);
  });

  it('never relies on a mark that a success does not check or that needs a renewal', () => {
    fc.assert(
      fc.property(fc.integer({ min: -10, max: AT_RISK_SECONDS }), (left) => {
        const mark = atRiskFor(left);
        if (isKnownAtRisk(mark, NOW)) expect(unseen(mark, 0)).toBe(false);
        if (left <= 600) expect(needsRiskMark(mark, NOW)).toBe(true);
      }),
    );
  });

  it('is predicted from the last attempt but one on', () => {
    expect([5, 6, 7, 8].map((attempt) => mayExhaustSoon(attempt, 8))).toEqual([false, false, true, true]);
    expect(mayExhaustSoon(1, 1)).toBe(true);
  });
});
