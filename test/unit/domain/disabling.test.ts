import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  computeOldestOpenTime,
  type OpenDelivery,
  predictDisabling,
  predictExhaustion,
} from '../../../functions/domain/disabling-forecast.ts';
import {
  DEFAULT_RETRY_POLICY,
  type RetryPolicy,
  scheduleNextAttempt,
} from '../../../functions/domain/timing.ts';
import { later, NOW, seconds } from '../../builders.ts';

const policies: fc.Arbitrary<RetryPolicy> = fc.record({
  baseSeconds: fc.integer({ min: 1, max: 120 }),
  capSeconds: fc.integer({ min: 120, max: 7200 }),
  maxAttempts: fc.constant(8),
});

const attempt = (number: number, startedAt: Date, durationMs: number) => ({
  number,
  startedAt: startedAt.toISOString(),
  durationMs,
  error: 'the receiver answered 500',
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
    attempts: started.length,
    attemptLog: settled.map((start, index) => attempt(index + 1, start, durationMs)),
    ...(!isInProgress && settled.length > 0 && { nextRetryAt: starts[settled.length]?.toISOString() }),
    ...(isInProgress && { lease: { token: 'a', until: now.getTime() + 30_000 } }),
  };
}

describe('predicted exhaustion of an open delivery', () => {
  it('follows the retry schedule, except for the duration of attempts', () => {
    fc.assert(
      fc.property(lives, (life) => {
        const predicted = predictExhaustion(storedAt(life, NOW), life.policy, NOW);
        // The duration of an attempt in progress is unknown.
        const off = Math.abs(predicted.getTime() - life.end.getTime());
        expect(off).toBeLessThanOrEqual(2 * life.durationMs * life.policy.maxAttempts);
        if (storedAt(life, NOW).lease === undefined && life.starts[0] && life.starts[0] <= NOW)
          expect(predicted).toEqual(life.end);
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
    expect(predictExhaustion({ attempts: 8, attemptLog: [] }, DEFAULT_RETRY_POLICY, NOW)).toEqual(NOW);
  });

  it('of a new delivery is after the whole schedule of 63.5 minutes', () => {
    const end = predictExhaustion({ attempts: 0, attemptLog: [] }, DEFAULT_RETRY_POLICY, NOW);
    expect(end).toEqual(later(NOW, seconds(63.5 * 60)));
  });
});

describe('predicted disabling of an endpoint', () => {
  const some = fc.array(lives, { maxLength: 15 }).map((all) => all.map((life) => storedAt(life, NOW)));
  const failures = fc.integer({ min: 1, max: 9 });

  it('is the end of the last delivery that it takes, or null with too few open ones', () => {
    fc.assert(
      fc.property(some, failures, (open, needed) => {
        const at = predictDisabling(needed, open, DEFAULT_RETRY_POLICY, NOW);
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
        const at = predictDisabling(needed, open, DEFAULT_RETRY_POLICY, NOW);
        const more = predictDisabling(needed, [...open, storedAt(another, NOW)], DEFAULT_RETRY_POLICY, NOW);
        const longer = predictDisabling(needed + 1, open, DEFAULT_RETRY_POLICY, NOW);
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
