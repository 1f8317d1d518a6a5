import { TimedCache } from '../aws/cache.ts';
import { within } from '../aws/concurrency.ts';
import { type Expression, expression } from '../aws/expression.ts';
import { type Table, update } from '../aws/table.ts';
import { keys, type RateBucket } from '../tenancy/keys.ts';
import type { Tier } from '../tenancy/tenant.ts';
import {
  type Budget,
  type BudgetName,
  computeDebt,
  getRateWindow,
  type Quota,
  type RateLimits,
  VISITOR_LIMITS,
  WINDOW_SECONDS,
} from './rate-limit.ts';

/** From a window's start. Nothing reads the item later; DynamoDB deletes it within days. */
const KEPT_SECONDS = 3600;

/**
 * Tokens used per window. A separate table isolates other data from its throttling or loss.
 * @param timeoutMs a slower count is abandoned: the limiter must not slow down the service
 */
export function rateWindowStore(table: Table, timeoutMs = 500) {
  async function write(bucket: RateBucket, start: number, tokens: number, condition?: Expression) {
    const written = update(table, keys.rateWindow(bucket, start), {
      update: expression`SET expiresAt = ${start + KEPT_SECONDS} ADD used ${tokens}`,
      if: condition,
      returns: 'new',
    });
    const { kind, row } = await within(timeoutMs, written);
    return kind === 'refused' ? 'full' : { used: Number(row?.used) };
  }

  return {
    /**
     * Takes a request's tokens in one conditional write, exact under concurrency. The last request may take
     * more than is left.
     * @param start of the window, seconds since the epoch
     * @returns used tokens; `full`, and nothing is taken, when `limit` tokens were used
     */
    take: (bucket: RateBucket, start: number, tokens: number, limit: number) =>
      write(bucket, start, tokens, expression`attribute_not_exists(used) OR used < ${limit}`),

    /**
     * Adds tokens, or returns some, regardless of the limit.
     * @returns used tokens
     */
    async add(bucket: RateBucket, start: number, tokens: number): Promise<{ used: number }> {
      const added = await write(bucket, start, tokens);
      return added === 'full' ? { used: 0 } : added;
    },
  };
}
export type RateWindows = ReturnType<typeof rateWindowStore>;

/** A quota and its window, for the correction after the request. */
export interface Charge extends Quota {
  bucket: RateBucket;
  /** Start of the window, seconds since the epoch. */
  start: number;
  tokens: number;
  /** The same charge to a shared budget. */
  shared?: Charge;
}

export interface RateLimiter {
  /**
   * Charges a request before it runs. A request is allowed while its window has a token left, even when it
   * costs more.
   */
  take(bucket: RateBucket, tier: Budget, now: Date, tokens?: number): Promise<Charge>;
  /** Corrects the charge to the actual cost. No write without a difference. */
  correct(charge: Charge, tokens: number): Promise<Charge>;
}

/**
 * Takes tokens from windows. What a window uses beyond its limit is taken from the next one, at most all of
 * it, and so on while that is full too. A full window is cached for a second, so that a caller who continues
 * does not load the table; no longer, because a correction elsewhere may return tokens.
 * @throws the windows' error: the caller lets the request pass
 */
function tokenCounter(windows: RateWindows) {
  const full = new TimedCache<string, true>({ capacity: 1000, freshMs: 1000 });
  const getName = ({ orgId, kind }: RateBucket, start: number) => `${orgId}/${kind}/${start}`;
  const isFull = (bucket: RateBucket, now: Date): boolean =>
    full.get(getName(bucket, getRateWindow(now).start), now) === true;

  /**
   * Takes what exceeds the limit from the next window, which may exceed its own by that.
   * @param start of the window to which tokens were added
   */
  async function settleDebt(
    charge: Pick<Charge, 'bucket' | 'limit'>,
    start: number,
    used: number,
    added: number,
  ): Promise<void> {
    const { bucket, limit } = charge;
    if (used < limit) full.delete(getName(bucket, start));
    const tokens = computeDebt(used, limit) - computeDebt(used - added, limit);
    if (tokens === 0) return;
    const next = start + WINDOW_SECONDS;
    const after = await windows.add(bucket, next, tokens);
    await settleDebt(charge, next, after.used, tokens);
  }

  async function settle(charge: Charge, used: number, added: number): Promise<Charge> {
    await settleDebt(charge, charge.start, used, added);
    return { ...charge, remaining: Math.max(0, charge.limit - used) };
  }

  return {
    isFull,

    async take(
      bucket: RateBucket,
      { tier, limit }: { tier: BudgetName; limit: number },
      now: Date,
      tokens: number,
    ): Promise<Charge> {
      const { start, resetSeconds } = getRateWindow(now);
      const charge = { tier, limit, resetSeconds, bucket, start, tokens, remaining: 0 };
      const taken = isFull(bucket, now) ? 'full' : await windows.take(bucket, start, tokens, limit);
      if (taken !== 'full') return settle({ ...charge, allowed: true }, taken.used, tokens);
      full.set(getName(bucket, start), true, now);
      return { ...charge, allowed: false };
    },

    async correct(charge: Charge, tokens: number): Promise<Charge> {
      const more = tokens - charge.tokens;
      if (more === 0) return charge;
      const { used } = await windows.add(charge.bucket, charge.start, more);
      return settle({ ...charge, tokens }, used, more);
    },
  };
}

/** Charges requests to the budget of their bucket. */
export function rateLimiter(windows: RateWindows, limits: RateLimits): RateLimiter {
  const { take, correct } = tokenCounter(windows);
  return {
    take: (bucket, tier, now, tokens = 1) =>
      take(bucket, { tier, limit: { ...limits, ...VISITOR_LIMITS }[tier] }, now, tokens),
    correct,
  };
}

/**
 * Charges a visitor's request to its conversation's budget, then to the shared budget of all visitors of the
 * organization. The conversation comes first, so that it cannot use more of the shared budget than its own.
 * @param limits of all visitors of an organization, by its tier
 */
export function visitorLimiter(
  windows: RateWindows,
  limits: RateLimits,
  organization: (id: RateBucket['orgId'], now: Date) => Promise<{ tier: Tier } | undefined>,
): RateLimiter {
  const { isFull, take, correct } = tokenCounter(windows);
  return {
    async take(bucket, tier, now, tokens = 1) {
      const kind = tier === 'visitor-writes' ? 'visitors-writes' : 'visitors';
      const allVisitors: RateBucket = { orgId: bucket.orgId, kind };
      const limit = limits[(await organization(bucket.orgId, now))?.tier ?? 'sandbox'];
      const takeShared = () => take(allVisitors, { tier: kind, limit }, now, tokens);
      if (isFull(allVisitors, now)) return takeShared();
      const own = await take(bucket, { tier, limit: { ...limits, ...VISITOR_LIMITS }[tier] }, now, tokens);
      if (!own.allowed) return own;
      const shared = await takeShared();
      return shared.allowed ? { ...own, shared } : shared;
    },

    async correct(charge, tokens) {
      const [corrected] = await Promise.all([
        correct(charge, tokens),
        charge.shared && correct(charge.shared, tokens),
      ]);
      return corrected;
    },
  };
}
