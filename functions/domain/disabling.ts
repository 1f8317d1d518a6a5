import { nextAttemptAt, type RetryPolicy } from './backoff.ts';
import type { Delivery } from './delivery.ts';

/** What of an open delivery says when it would end. */
export type OpenDelivery = Pick<Delivery, 'attempts' | 'attemptLog' | 'nextRetryAt' | 'lease'>;

/**
 * When an open delivery would be exhausted if each attempt from now on failed, and took as long as its last one has: the schedule of its retries
 * (public-api.md, Limits). Not before `now`.
 */
export function exhaustedAt(delivery: OpenDelivery, policy: RetryPolicy, now: Date): Date {
  const { attempts, attemptLog, nextRetryAt, lease } = delivery;
  const lastMs = attemptLog.at(-1)?.durationMs ?? 0;
  const isUnderWay = lease !== undefined && lease.until > now.getTime();
  let at = new Date(Math.max(now.getTime(), Date.parse(nextRetryAt ?? '') || 0));
  let end = at;
  for (let number = isUnderWay ? attempts : attempts + 1; number <= policy.maxAttempts; number += 1) {
    end = new Date(at.getTime() + lastMs);
    at = nextAttemptAt(number, end, policy);
  }
  return end;
}

/**
 * When an endpoint would be disabled if none of its deliveries succeeded from now on: with the end of the last one that it takes, of those that are open.
 * @param failures how many more in a row disable it
 * @returns null when fewer are open: then it takes events that have not happened yet
 */
export function disablesAt(
  failures: number,
  open: readonly OpenDelivery[],
  policy: RetryPolicy,
  now: Date,
): Date | null {
  const ends = open.map((delivery) => exhaustedAt(delivery, policy, now).getTime()).sort((a, b) => a - b);
  const last = ends[failures - 1];
  return last === undefined ? null : new Date(last);
}

/** How late retries may come, as a part of their schedule. */
const LATENESS = 1.25;

/**
 * When a delivery that is open now was created at the earliest, as long as attempts come about when they are due.
 * @param attemptSeconds the receiver's deadline
 */
export function openSince(policy: RetryPolicy, attemptSeconds: number, now: Date): Date {
  let at = now;
  for (let number = 1; number < policy.maxAttempts; number += 1)
    at = nextAttemptAt(number, new Date(at.getTime() + attemptSeconds * 1000), policy);
  const spanMs = at.getTime() - now.getTime() + attemptSeconds * 1000;
  return new Date(now.getTime() - spanMs * LATENESS);
}
