import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { computeNextCheck } from '../../../functions/delivery/reconcile.ts';
import { isExpired } from '../../../functions/delivery/rows.ts';
import {
  type AttemptClocks,
  computeDelaySeconds,
  computeVisibilitySeconds,
  DEFAULT_ATTEMPT_TIMEOUT_SECONDS,
  DEFAULT_GRACE_SECONDS,
  DEFAULT_RETRY_POLICY,
  deriveAttemptClocks,
  EXPIRY_SECONDS,
  findClockFaults,
  scheduleNextAttempt,
} from '../../../functions/delivery/timing.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { recentTimes } from '../aws/arbitraries.ts';

const deadlines = fc.double({ min: 0.1, max: 60, noNaN: true });

describe('clocks of an attempt', () => {
  it('start with the ten seconds of a receiver', () => {
    expect(DEFAULT_ATTEMPT_TIMEOUT_SECONDS).toBe(10);
    expect(deriveAttemptClocks(DEFAULT_ATTEMPT_TIMEOUT_SECONDS).attempt).toBe(10);
  });

  it('are each longer than the one before, for every deadline', () => {
    fc.assert(
      fc.property(deadlines, (deadline) => {
        const { attempt, functionTimeout, lease, visibility } = deriveAttemptClocks(deadline);
        expect(attempt).toBe(deadline);
        expect(functionTimeout).toBeGreaterThanOrEqual(attempt + 10);
        expect(lease).toBeGreaterThan(functionTimeout);
        expect(visibility).toBeGreaterThan(lease);
      }),
    );
  });

  it('are whole seconds where AWS requires it', () => {
    fc.assert(
      fc.property(deadlines, (deadline) => {
        const { functionTimeout, visibility } = deriveAttemptClocks(deadline);
        expect([functionTimeout, visibility].every(Number.isInteger)).toBe(true);
        // The longest timeout of a Lambda function, and the longest visibility timeout of a queue.
        expect(functionTimeout).toBeLessThanOrEqual(900);
        expect(visibility).toBeLessThanOrEqual(43_200);
      }),
    );
  });

  it.each([0, 0.09, 60.1, -1, Number.NaN, Number.POSITIVE_INFINITY])(
    'reject a deadline of %d seconds',
    (deadline) => {
      expect(() => deriveAttemptClocks(deadline)).toThrow(RangeError);
    },
  );
});

describe('configured clocks', () => {
  const right = deriveAttemptClocks(DEFAULT_ATTEMPT_TIMEOUT_SECONDS);

  it('have no fault when they are the derived ones, for every deadline', () => {
    fc.assert(
      fc.property(deadlines, (deadline) => {
        expect(findClockFaults(deriveAttemptClocks(deadline))).toEqual([]);
      }),
    );
  });

  it.each<[string, Partial<AttemptClocks>, string[]]>([
    ['a function that ends with its attempt', { functionTimeout: 10 }, ['the attempt timeout (10 s)']],
    ['a function that ends before its attempt', { functionTimeout: 3 }, ['the attempt timeout (10 s)']],
    ['a lease that ends with its function', { lease: 20 }, ['the function timeout (20 s)']],
    ['a lease that ends before its function', { lease: 12 }, ['the function timeout (20 s)']],
    [
      'a queue visibility shorter than the task deadline',
      { visibility: 9 },
      ['the visibility timeout (9 s)'],
    ],
    [
      'a message that is visible again at the end of the lease',
      { visibility: 25 },
      ['the visibility timeout (25 s)'],
    ],
    [
      'several at once',
      { functionTimeout: 5, lease: 4, visibility: 3 },
      ['the attempt timeout (10 s)', 'the function timeout (5 s)', 'the visibility timeout (3 s)'],
    ],
    [
      'a missing clock',
      { lease: Number.NaN },
      ['shorter than the lease (NaN s)', 'the lease (NaN s) must be'],
    ],
  ])('report %s', (_what, wrong, faults) => {
    expect(findClockFaults({ ...right, ...wrong })).toEqual(
      faults.map((fault) => expect.stringContaining(fault)),
    );
  });
});

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

describe.each([
  ['visibility timeout of a message', computeVisibilitySeconds, 42_300],
  ['delay of a sent message', computeDelaySeconds, 900],
])('%s', (_, compute, limit) => {
  it('never ends early, nor a whole second late, up to the limit of SQS', () => {
    fc.assert(
      fc.property(recentTimes, fc.integer({ min: 0, max: limit * 1000 }), (now, milliseconds) => {
        const waited = compute(later(now, milliseconds), now) * 1000;
        expect(waited).toBeGreaterThanOrEqual(milliseconds);
        expect(waited).toBeLessThan(milliseconds + 1000);
      }),
    );
  });

  it.each([
    [-1, 0],
    [0, 0],
    [1, 1],
    [1_000, 1],
    [1_001, 2],
    [limit * 1000, limit],
    [limit * 1000 + 1, limit],
  ])('for %i ms is %i s', (milliseconds, expected) => {
    expect(compute(later(NOW, milliseconds), NOW)).toBe(expected);
  });
});

const created = (time: Date) => ({ id: newId('dlv', time) });
const graces = fc.oneof(
  fc.constant(DEFAULT_GRACE_SECONDS),
  fc.double({ min: 0.5, max: 86_400, noNaN: true }),
);
const SIX_HOURS = 6 * 3600;

describe('next check of a resent delivery', () => {
  it('is after the grace period, and within six hours or the grace period', () => {
    fc.assert(
      fc.property(recentTimes, fc.nat({ max: EXPIRY_SECONDS }), graces, (birth, age, grace) => {
        const now = later(birth, seconds(age));
        const wait = (computeNextCheck(created(birth), now, grace).getTime() - now.getTime()) / 1000;
        expect(wait).toBeGreaterThanOrEqual(grace);
        expect(wait).toBeLessThanOrEqual(Math.max(grace, SIX_HOURS) + 0.001);
      }),
    );
  });

  it('is after the grace period when the delivery has a creation time in the future', () => {
    const early = later(NOW, -seconds(60));
    expect(computeNextCheck(created(NOW), early, 900)).toEqual(later(early, seconds(900)));
  });

  it('limits the number of resent messages of a delivery whose messages are all lost', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3600 }), (grace) => {
        let checks = 0;
        for (
          let now = later(NOW, seconds(grace));
          !isExpired(created(NOW), now);
          now = computeNextCheck(created(NOW), now, grace)
        )
          checks += 1;
        // The wait doubles up to six hours; from then on there are twelve of them in three days.
        expect(checks).toBeLessThanOrEqual(Math.ceil(Math.log2(SIX_HOURS / grace)) + 14);
      }),
    );
  });
});

describe('expiry of a delivery', () => {
  it('is three days after the creation time in its id', () => {
    expect(EXPIRY_SECONDS).toBe(3 * 24 * 3600);
    fc.assert(
      fc.property(recentTimes, fc.integer({ min: -5_000, max: 5_000 }), (birth, around) => {
        const now = later(birth, seconds(EXPIRY_SECONDS) + around);
        expect(isExpired(created(birth), now)).toBe(around > 0);
      }),
    );
  });
});
