import type { Delivery } from './delivery.ts';
import { type RetryPolicy, scheduleNextAttempt } from './timing.ts';

export type OpenDelivery = Pick<Delivery, 'status' | 'createdAt' | 'attempts' | 'nextRetryAt' | 'lease'>;

/** When an open delivery will be exhausted if every further attempt fails at once. Not before `now`. */
export function predictExhaustion(delivery: OpenDelivery, policy: RetryPolicy, now: Date): Date {
  const { createdAt, attempts, nextRetryAt = createdAt, lease } = delivery;
  let at = new Date(Math.max(now.getTime(), Date.parse(nextRetryAt)));
  for (let number = lease ? attempts : attempts + 1; number < policy.maxAttempts; number += 1)
    at = scheduleNextAttempt(number, at, policy);
  return at;
}

/** Factor by which retries may be late. */
const LATENESS = 1.1;

/** Earliest creation time of a delivery that is open now, if attempts start about when they are due. */
export function computeOldestOpenTime(policy: RetryPolicy, attemptSeconds: number, now: Date): Date {
  const unsent: OpenDelivery = { status: 'pending', createdAt: now.toISOString(), attempts: 0 };
  const end = predictExhaustion(unsent, policy, now);
  const spanMs = end.getTime() - now.getTime() + policy.maxAttempts * attemptSeconds * 1000;
  return new Date(now.getTime() - spanMs * LATENESS);
}

/** A delivery that is open for longer waits. One whose attempt has failed waits at once. */
const WAITING_MS = 60_000;

/**
 * Estimates since when deliveries wait, and when `failures` of them will have failed if none succeeds.
 * @returns null for none, or for too few
 */
export function estimate(open: readonly OpenDelivery[], failures: number, policy: RetryPolicy, now: Date) {
  const old = new Date(now.getTime() - WAITING_MS).toISOString();
  const waiting = open.filter(({ status, createdAt }) => status === 'retrying' || createdAt < old);
  const [waitingSince = null] = waiting.map(({ createdAt }) => createdAt).sort();
  const ends = open.map((one) => predictExhaustion(one, policy, now).toISOString()).sort();
  return { waitingSince, disablesAt: ends[failures - 1] ?? null };
}
