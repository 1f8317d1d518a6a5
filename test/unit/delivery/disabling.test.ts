import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  computeOldestOpenTime,
  estimateWaits,
  type OpenDelivery,
  predictExhaustion,
} from '../../../functions/delivery/delivery-queries.ts';
import {
  DEFAULT_RETRY_POLICY,
  type RetryPolicy,
  scheduleNextAttempt,
} from '../../../functions/delivery/timing.ts';
import { later, NOW, seconds } from '../../builders.ts';

const policies: fc.Arbitrary<RetryPolicy> = fc.record({
  baseSeconds: fc.integer({ min: 1, max: 120 }),
  capSeconds: fc.integer({ min: 120, max: 7200 }),
  maxAttempts: fc.constant(8),
});

/** A delivery whose attempts have all failed after the same duration, and the end of its last one. */
const lives = fc
  .record({
    policy: policies,
    createdMs: fc.integer({ min: -20_000_000, max: 0 }),
    durationMs: fc.integer({ min: 0, max: 10_000 }),
  })
  .map(({ policy, createdMs, durationMs }) => {
    const starts: Date[] = [];
    let at = later(NOW, createdMs);
    for (let number = 1; number <= policy.maxAttempts; number += 1) {
      starts.push(at);
      at = scheduleNextAttempt(number, later(at, durationMs), policy);
    }
    const end = later(starts.at(-1) ?? NOW, durationMs);
    return { policy, durationMs, starts, end };
  })
  // The others have ended.
  .filter(({ end }) => end > NOW);

/** The delivery as it is stored at a moment between two attempts, or during one. */
function storedAt(
  { starts, durationMs }: { starts: readonly Date[]; durationMs: number },
  now: Date,
): OpenDelivery {
  const settled = starts.filter((start) => later(start, durationMs) <= now);
  const started = starts.filter((start) => start <= now);
  const isInProgress = started.length > settled.length;
  return {
    status: settled.length === 0 ? 'pending' : 'retrying',
    createdAt: String(starts[0]?.toISOString()),
    attempts: started.length,
    ...(settled.length > 0 && {
      nextRetryAt: starts[started.length - (isInProgress ? 1 : 0)]?.toISOString(),
    }),
    ...(isInProgress && { lease: { token: 'a', until: now.getTime() + 30_000 } }),
  };
}

const UNSENT: OpenDelivery = { status: 'pending', createdAt: NOW.toISOString(), attempts: 0 };

describe('predicted exhaustion of an open delivery', () => {
  it('follows the retry schedule, except for the duration of attempts', () => {
    fc.assert(
      fc.property(lives, (life) => {
        const predicted = predictExhaustion(storedAt(life, NOW), life.policy, NOW);
        const off = Math.abs(predicted.getTime() - life.end.getTime());
        expect(off).toBeLessThanOrEqual(life.durationMs * life.policy.maxAttempts);
      }),
      { numRuns: 1000 },
    );
  });

  it('is never before now, even when its attempts are late', () => {
    fc.assert(
      fc.property(lives, fc.integer({ min: 0, max: 10_000_000 }), (life, late) => {
        const now = later(NOW, late);
        expect(predictExhaustion(storedAt(life, NOW), life.policy, now) >= now).toBe(true);
      }),
    );
  });

  it('is now when its last attempt was started and never settled', () => {
    expect(predictExhaustion({ ...UNSENT, attempts: 8 }, DEFAULT_RETRY_POLICY, NOW)).toEqual(NOW);
  });

  it('of a new delivery is after the whole schedule of 63.5 minutes', () => {
    const end = predictExhaustion(UNSENT, DEFAULT_RETRY_POLICY, NOW);
    expect(end).toEqual(later(NOW, seconds(63.5 * 60)));
  });
});

describe('predicted disabling of an endpoint', () => {
  const some = fc.array(lives, { maxLength: 15 }).map((all) => all.map((life) => storedAt(life, NOW)));
  const failures = fc.integer({ min: 1, max: 9 });
  const disabling = (open: readonly OpenDelivery[], needed: number) => {
    const at = estimateWaits(open, needed, DEFAULT_RETRY_POLICY, NOW).disablesAt;
    return at === null ? null : new Date(at);
  };

  it('is the end of the last delivery that it takes, or null with too few open ones', () => {
    fc.assert(
      fc.property(some, failures, (open, needed) => {
        const at = disabling(open, needed);
        expect(at === null).toBe(open.length < needed);
        if (at === null) return;
        const ended = (moment: Date) =>
          open.filter((delivery) => predictExhaustion(delivery, DEFAULT_RETRY_POLICY, NOW) <= moment).length;
        expect(ended(at)).toBeGreaterThanOrEqual(needed);
        expect(ended(later(at, -1))).toBeLessThan(needed);
      }),
    );
  });

  it('is no later with more deliveries, and no earlier with more failures to come', () => {
    fc.assert(
      fc.property(some, lives, failures, (open, another, needed) => {
        const at = disabling(open, needed);
        const more = disabling([...open, storedAt(another, NOW)], needed);
        const longer = disabling(open, needed + 1);
        if (at !== null) expect(more && more <= at).toBe(true);
        if (at !== null && longer !== null) expect(longer >= at).toBe(true);
      }),
    );
  });
});

describe('oldest time of an open delivery', () => {
  it('includes every open delivery whose attempts start when due and end by the deadline', () => {
    fc.assert(
      fc.property(lives, ({ policy, starts, end }) => {
        if (end < NOW) return;
        const [created = NOW] = starts;
        expect(computeOldestOpenTime(policy, 10, NOW) < created).toBe(true);
      }),
    );
  });
});

describe('the time since when deliveries wait', () => {
  const ago = (count: number) => later(NOW, -seconds(count)).toISOString();
  const retrying = (count: number): OpenDelivery => ({
    status: 'retrying',
    createdAt: ago(count),
    attempts: 1,
  });
  const pending = (count: number): OpenDelivery => ({
    status: 'pending',
    createdAt: ago(count),
    attempts: 0,
  });

  it.each([
    ['of the oldest', [pending(100), retrying(500), pending(400)], ago(500)],
    [
      'absent while those without a failed attempt are younger than a minute',
      [pending(30), pending(59)],
      null,
    ],
    ['of a younger one whose attempt has failed', [pending(30), retrying(5), retrying(10)], ago(10)],
    ['absent without deliveries', [], null],
  ])('is %s', (_, open, expected) => {
    expect(estimateWaits(open, 1, DEFAULT_RETRY_POLICY, NOW).waitingSince).toBe(expected);
  });
});
