import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  backoffMs,
  paceAfter,
  readBudget,
  retryAfterMs,
  UNPACED,
  waitMs,
} from '../../../../packages/cli/src/forward/pacing.ts';

const MINUTE = 60_000;
const headers = (fields: Record<string, string>) => new Headers(fields);

/**
 * Calls a limiter of fixed windows for some minutes, as fast as the pace permits.
 * @param others how many requests of other callers come before each, cyclically
 * @returns requests of each minute, and the answers that were 429
 */
function askFor(minutes: number, quota: number, others: readonly number[], withPolicy = true) {
  let pace = UNPACED;
  let now = 0;
  let asked = 0;
  const used = new Map<number, number>();
  const mine = new Map<number, number>();
  let refused = 0;
  while (now < minutes * MINUTE) {
    const window = Math.floor(now / MINUTE);
    const before = (used.get(window) ?? 0) + (others[asked % others.length] ?? 0);
    used.set(window, before + 1);
    mine.set(window, (mine.get(window) ?? 0) + 1);
    if (before + 1 > quota) refused += 1;
    const remaining = Math.max(0, quota - before - 1);
    const reset = Math.max(1, Math.ceil(((window + 1) * MINUTE - now) / 1000));
    const answer = headers({
      RateLimit: `"sandbox";r=${remaining};t=${reset}`,
      ...(withPolicy ? { 'RateLimit-Policy': `"sandbox";q=${quota};w=60` } : {}),
    });
    pace = paceAfter(pace, readBudget(answer), now);
    // A call takes a moment, so that no budget is infinite.
    now += 20 + waitMs(pace, now + 20);
    asked += 1;
  }
  return { mine: [...mine.values()], refused };
}

describe('the pace of requests', () => {
  it('uses about half of any budget', () => {
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 600 }), (quota) => {
        for (const count of askFor(3, quota, [0]).mine) {
          expect(count).toBeLessThanOrEqual(Math.ceil(quota / 2) + 4);
        }
        expect(askFor(1, quota, [0]).mine[0]).toBeGreaterThanOrEqual(Math.floor(quota / 2));
      }),
    );
  });

  it('leaves other callers their use, as far as the budget permits', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3), { minLength: 1, maxLength: 10 }), (others) => {
        // A caller that uses the whole budget at once cannot be helped: each takes at most three here.
        expect(askFor(3, 60, others).refused).toBeLessThanOrEqual(3);
      }),
    );
  });

  it('waits for the next window when the budget is used up', () => {
    const budget = readBudget(
      headers({ RateLimit: '"sandbox";r=0;t=34', 'RateLimit-Policy': '"sandbox";q=60;w=60' }),
    );
    expect(waitMs(paceAfter(UNPACED, budget, 1000), 1000)).toBe(34_000);
  });

  it('uses half of what is left when no policy states the whole budget', () => {
    const budget = readBudget(headers({ RateLimit: '"sandbox";r=30;t=30' }));
    expect(waitMs(paceAfter(UNPACED, budget, 1000), 1000)).toBe(2000);
    expect(askFor(3, 60, [0], false).refused).toBe(0);
  });

  it('has no limit at an API without rate limit headers', () => {
    expect(readBudget(headers({}))).toBeUndefined();
    expect(readBudget(headers({ RateLimit: 'limit=60' }))).toBeUndefined();
    expect(waitMs(paceAfter(UNPACED, undefined, 0), 0)).toBe(0);
  });
});

describe('the backoff at a failing API', () => {
  it('doubles up to half a minute, with jitter', () => {
    expect([1, 2, 3, 6, 100].map((failures) => backoffMs(failures, 1))).toEqual([
      1000, 2000, 4000, 30_000, 30_000,
    ]);
    expect(backoffMs(1, 0)).toBe(500);
  });

  it('uses Retry-After in seconds or as a date, and a default otherwise', () => {
    const now = new Date('2026-11-20T09:30:00Z');
    const wait = (text: string) => retryAfterMs(headers({ 'retry-after': text }), now);
    expect(wait('12')).toBe(12_000);
    expect(wait('Fri, 20 Nov 2026 09:30:07 GMT')).toBe(7000);
    expect(wait('Fri, 20 Nov 2026 09:29:00 GMT')).toBe(0);
    expect(wait('soon')).toBe(5000);
    expect(retryAfterMs(headers({}), now)).toBe(5000);
  });
});
