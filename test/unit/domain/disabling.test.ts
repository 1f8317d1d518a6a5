import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  computeOldestOpenTime,
  type OpenDelivery,
  predictDisabling,
  predictExhaustion,
} from '../../../functions/domain/failure-streak.ts';
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

/**
 * A delivery whose attempts have all failed, each of which took so long, and when its last one will have
 * ended.
 */
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
  // Others have ended.
  .filter(({ end }) => end > NOW);

/** As it is stored at a moment between two of its attempts, or while one is under way. */
function storedAt(
  { starts, durationMs }: { starts: readonly Date[]; durationMs: number },
  now: Date,
): OpenDelivery {
  const settled = starts.filter((start) => later(start, durationMs) <= now);
  const started = starts.filter((start) => start <= now);
  const isUnderWay = started.length > settled.length;
  return {
    attempts: started.length,
    attemptLog: settled.map((start, index) => attempt(index + 1, start, durationMs)),
    ...(!isUnderWay && settled.length > 0 && { nextRetryAt: starts[settled.length]?.toISOString() }),
    ...(isUnderWay && { lease: { token: 'a', until: now.getTime() + 30_000 } }),
  };
}

describe('when an open delivery is exhausted if nothing succeeds', () => {
  it('is what the schedule of its retries makes of it, to the duration of an attempt', () => {
    fc.assert(
      fc.property(lives, (life) => {
        const told = predictExhaustion(storedAt(life, NOW), life.policy, NOW);
        // Of one that is under way nobody knows how long it will take yet.
        const off = Math.abs(told.getTime() - life.end.getTime());
        expect(off).toBeLessThanOrEqual(2 * life.durationMs * life.policy.maxAttempts);
        if (storedAt(life, NOW).lease === undefined && life.starts[0] && life.starts[0] <= NOW)
          expect(told).toEqual(life.end);
      }),
      { numRuns: 1000 },
    );
  });

  it('is never before now, however late its attempts are', () => {
    fc.assert(
      fc.property(lives, fc.integer({ min: 0, max: 10_000_000 }), (life, late) => {
        const now = later(NOW, late);
        expect(predictExhaustion(storedAt(life, NOW), life.policy, now) >= now).toBe(true);
      }),
    );
  });

  it('is now when its last attempt was started and nobody settled it', () => {
    expect(predictExhaustion({ attempts: 8, attemptLog: [] }, DEFAULT_RETRY_POLICY, NOW)).toEqual(NOW);
  });

  it('of one that begins is the whole schedule: 63.5 minutes', () => {
    const end = predictExhaustion({ attempts: 0, attemptLog: [] }, DEFAULT_RETRY_POLICY, NOW);
    expect(end).toEqual(later(NOW, seconds(63.5 * 60)));
  });
});

describe('when an endpoint is disabled if nothing succeeds', () => {
  const some = fc.array(lives, { maxLength: 15 }).map((all) => all.map((life) => storedAt(life, NOW)));
  const failures = fc.integer({ min: 1, max: 9 });

  it('is the end of as many deliveries as it takes, and told exactly when so many are open', () => {
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

  it('comes no later with more deliveries, and no earlier when it takes more failures', () => {
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

describe('the deliveries that are looked at for it', () => {
  it('are all that can be open, with attempts that take up to the deadline and begin when they are due', () => {
    fc.assert(
      fc.property(lives, ({ policy, starts, end }) => {
        if (end < NOW) return;
        const [created = NOW] = starts;
        expect(computeOldestOpenTime(policy, 10, NOW) < created).toBe(true);
      }),
    );
  });
});
