/** How failed attempts are spaced. Seconds, fractions allowed. */
export interface RetryPolicy {
  baseSeconds: number;
  capSeconds: number;
  maxAttempts: number;
}

/** Attempts a delivery may start (public-api.md, Limits). */
export const MAX_ATTEMPTS = 8;
/** public-api.md, Limits: base 30 s, doubled each time, at most 1 hour. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  baseSeconds: 30,
  capSeconds: 3600,
  maxAttempts: MAX_ATTEMPTS,
};

/**
 * When the attempt after attempt number `attempt` is due: `min(base * 2^(attempt-1), cap)` after its end.
 * @param attempt number of the attempt that failed, from 1
 */
export function nextAttemptAt(attempt: number, endedAt: Date, policy: RetryPolicy): Date {
  const seconds = Math.min(policy.baseSeconds * 2 ** (attempt - 1), policy.capSeconds);
  return new Date(endedAt.getTime() + Math.ceil(seconds * 1000));
}

/**
 * SQS hides a message for 12 hours at most, counted from its receive, and refuses whatever would be longer: so less the
 * longest that a function may have had it.
 */
const MAX_VISIBILITY_SECONDS = 43_200 - 900;

/**
 * For how long a queue message must stay hidden so that it does not come back before `until`. SQS counts whole
 * seconds: rounded up, because a message that is early costs a receive and waits another second. None for a time that has come.
 */
export function hiddenSeconds(until: Date, now: Date): number {
  const seconds = Math.ceil((until.getTime() - now.getTime()) / 1000);
  return Math.min(Math.max(seconds, 0), MAX_VISIBILITY_SECONDS);
}

/** SQS holds a message back by `DelaySeconds` for 15 minutes at most. */
export const MAX_DELAY_SECONDS = 900;

/** For how long a message that is sent now must be held back so that it does not come before `until`. */
export function delaySeconds(until: Date, now: Date): number {
  const seconds = Math.ceil((until.getTime() - now.getTime()) / 1000);
  return Math.min(Math.max(seconds, 0), MAX_DELAY_SECONDS);
}
