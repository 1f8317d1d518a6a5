/** Time from the first byte of DNS to a receiver's last header byte (decisions.md, Deliveries). */
export const DEFAULT_ATTEMPT_TIMEOUT_SECONDS = 10;

/** EventBridge invokes a rule once a minute at most. */
export const RECONCILE_EVERY_SECONDS = 60;
/**
 * How far ahead a run looks: to the next one, and something over, because schedules are not exact and
 * messages take time to be sent.
 */
export const RECONCILE_LOOKAHEAD_SECONDS = 90;

/**
 * Timeout of the function that checks sources, and the deadlines of one fetch and one extraction: five
 * fetches at once, then the extractions, one after another where they are large, end within it.
 */
export const CHECK_TIMEOUT_SECONDS = 75;
export const FETCH_TIMEOUT_SECONDS = 20;
export const EXTRACTION_TIMEOUT_SECONDS = 8;
/**
 * How long a check holds its source: longer than its function can live, so that no check outlives its lease.
 */
export const CHECK_LEASE_SECONDS = 90;

/**
 * The clocks of an attempt, all in seconds, derived in one place because each must outlast the one before it.
 */
export interface AttemptClocks {
  /** The receiver's deadline. */
  attempt: number;
  /** The dispatcher function's timeout: the attempt, and reading, claiming and settling around it. */
  functionTimeout: number;
  /** How long a claim holds. Longer than the function can live, so that no attempt outlives its lease. */
  lease: number;
  /**
   * How long the queue hides a message that was received. Longer than the lease, so that it finds a crashed
   * worker's lease expired.
   */
  visibility: number;
}

/** Room for the reads, the claim and the settlement with their retries. */
const WORK_AROUND_ATTEMPT = 10;
const MARGIN = 5;

/**
 * @param attemptSeconds the receiver's deadline, fractions allowed
 * @throws RangeError when the deadline is not within 0.1 s and 60 s
 */
export function deriveAttemptClocks(attemptSeconds: number): AttemptClocks {
  if (!(attemptSeconds >= 0.1 && attemptSeconds <= 60))
    throw new RangeError('the attempt timeout must be between 0.1 and 60 seconds');
  const functionTimeout = Math.ceil(attemptSeconds) + WORK_AROUND_ATTEMPT;
  const lease = functionTimeout + MARGIN;
  return { attempt: attemptSeconds, functionTimeout, lease, visibility: lease + MARGIN };
}

/**
 * What is wrong with clocks that were set in several places: each must outlast the one before it, and none
 * may be missing.
 * @returns one line for each fault
 */
export function findClockFaults({ attempt, functionTimeout, lease, visibility }: AttemptClocks): string[] {
  const rules: [fits: boolean, fault: string][] = [
    [
      attempt < functionTimeout,
      `an attempt of ${attempt} s does not end within its function's ${functionTimeout} s`,
    ],
    [functionTimeout < lease, `a function of ${functionTimeout} s outlives a lease of ${lease} s`],
    [
      lease < visibility,
      `a message hidden for ${visibility} s comes back before a lease of ${lease} s has ended`,
    ],
  ];
  return rules.filter(([fits]) => !fits).map(([, fault]) => fault);
}

/**
 * The mailer function's timeout, and how long its claim of an e-mail holds: longer than the function can
 * live.
 */
export const MAIL_TIMEOUT_SECONDS = 30;
export const MAIL_LEASE_SECONDS = 45;

/**
 * The timeout of the function that works on redelivery jobs, and how long it holds a job: longer than it can
 * live.
 */
export const REDELIVER_TIMEOUT_SECONDS = 30;
export const REDELIVER_LEASE_SECONDS = 40;
/**
 * After so long it hands a job on to its next message. What is left of the timeout is for the page that it
 * has begun.
 */
export const REDELIVER_ROUND_SECONDS = 10;

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
export function scheduleNextAttempt(attempt: number, endedAt: Date, policy: RetryPolicy): Date {
  const seconds = Math.min(policy.baseSeconds * 2 ** (attempt - 1), policy.capSeconds);
  return new Date(endedAt.getTime() + Math.ceil(seconds * 1000));
}

/**
 * SQS hides a message for 12 hours at most, counted from its receive, and refuses whatever would be longer:
 * so less the longest that a function may have had it.
 */
const MAX_VISIBILITY_SECONDS = 43_200 - 900;

/**
 * For how long a queue message must stay hidden so that it does not come back before `until`. SQS counts
 * whole seconds: rounded up, because a message that is early costs a receive and waits another second. None
 * for a time that has come.
 */
export function computeVisibilitySeconds(until: Date, now: Date): number {
  const seconds = Math.ceil((until.getTime() - now.getTime()) / 1000);
  return Math.min(Math.max(seconds, 0), MAX_VISIBILITY_SECONDS);
}

/** SQS holds a message back by `DelaySeconds` for 15 minutes at most. */
export const MAX_DELAY_SECONDS = 900;

/** For how long a message that is sent now must be held back so that it does not come before `until`. */
export function computeDelaySeconds(until: Date, now: Date): number {
  const seconds = Math.ceil((until.getTime() - now.getTime()) / 1000);
  return Math.min(Math.max(seconds, 0), MAX_DELAY_SECONDS);
}
