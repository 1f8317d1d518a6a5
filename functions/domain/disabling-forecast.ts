import type { Delivery } from './delivery.ts';
import { type RetryPolicy, scheduleNextAttempt } from './timing.ts';

/** Fields that determine when an open delivery would end. */
export type OpenDelivery = Pick<Delivery, 'attempts' | 'attemptLog' | 'nextRetryAt' | 'lease'>;

/**
 * Computes when an open delivery would be exhausted if every further attempt failed and took as long as the
 * last one (docs/specification.md, Limits). Not before `now`.
 */
export function predictExhaustion(delivery: OpenDelivery, policy: RetryPolicy, now: Date): Date {
  const { attempts, attemptLog, nextRetryAt, lease } = delivery;
  const lastMs = attemptLog.at(-1)?.durationMs ?? 0;
  const isInProgress = lease !== undefined && lease.until > now.getTime();
  let at = new Date(Math.max(now.getTime(), Date.parse(nextRetryAt ?? '') || 0));
  let end = at;
  for (let number = isInProgress ? attempts : attempts + 1; number <= policy.maxAttempts; number += 1) {
    end = new Date(at.getTime() + lastMs);
    at = scheduleNextAttempt(number, end, policy);
  }
  return end;
}

/**
 * Computes when an endpoint would be disabled if no open delivery succeeded.
 * @param failures how many more in a row disable it
 * @returns null when fewer deliveries are open
 */
export function predictDisabling(
  failures: number,
  open: readonly OpenDelivery[],
  policy: RetryPolicy,
  now: Date,
): Date | null {
  const ends = open
    .map((delivery) => predictExhaustion(delivery, policy, now).getTime())
    .sort((a, b) => a - b);
  const last = ends[failures - 1];
  return last === undefined ? null : new Date(last);
}

/** Factor by which retries may be late. */
const LATENESS = 1.25;

/**
 * Earliest creation time of a delivery that is open now, if attempts start when they are due.
 * @param attemptSeconds the receiver's deadline
 */
export function computeOldestOpenTime(policy: RetryPolicy, attemptSeconds: number, now: Date): Date {
  let at = now;
  for (let number = 1; number < policy.maxAttempts; number += 1)
    at = scheduleNextAttempt(number, new Date(at.getTime() + attemptSeconds * 1000), policy);
  const spanMs = at.getTime() - now.getTime() + attemptSeconds * 1000;
  return new Date(now.getTime() - spanMs * LATENESS);
}
