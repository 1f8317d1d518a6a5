import {
  type Budget,
  type Quota,
  type RateBucket,
  type RateLimits,
  VISITOR_LIMIT,
  windowAt,
} from '../../domain/rate-limit.ts';

/** Counts requests in windows; exact however many count at once. */
export interface RateWindows {
  take(
    bucket: RateBucket,
    start: number,
    limit: number,
    timeoutMs: number,
  ): Promise<{ used: number } | 'full'>;
}

/** A count that has not come back by then is given up: a limiter must not be what makes the service slow. */
const TIMEOUT_MS = 500;
/** Full windows that an instance remembers at most. */
const REMEMBERED = 1000;

/**
 * Takes one request out of a budget. A window once seen full is remembered until it ends, so that a caller who keeps calling does
 * not make its item the busiest of the table.
 * @throws whatever the windows throw: the caller decides that requests then pass
 */
export function rateLimiter(windows: RateWindows, limits: RateLimits) {
  const full = new Map<string, number>();
  return async (bucket: RateBucket, tier: Budget, now: Date): Promise<Quota> => {
    const { start, resetSeconds } = windowAt(now);
    const limit = tier === 'visitor' ? VISITOR_LIMIT : limits[tier];
    const name = `${bucket.orgId}/${bucket.kind}`;
    const quota = { tier, limit, resetSeconds };
    const taken = full.get(name) === start ? 'full' : await windows.take(bucket, start, limit, TIMEOUT_MS);
    if (taken !== 'full')
      return { ...quota, remaining: Math.max(0, limit - taken.used), allowed: taken.used <= limit };
    if (full.size >= REMEMBERED) full.clear();
    full.set(name, start);
    return { ...quota, remaining: 0, allowed: false };
  };
}
