import * as z from 'zod/mini';
import { DecimalNumber } from '../aws/config.ts';

/** From the first byte of DNS to the receiver's last header byte (docs/specification.md, Deliveries). */
export const DEFAULT_ATTEMPT_TIMEOUT_SECONDS = 10;

/** EventBridge invokes a rule at most once a minute. */
export const RECONCILE_EVERY_SECONDS = 60;
/** Lookahead of a run: until the next run, plus a margin for late schedules and the time to send. */
export const RECONCILE_LOOKAHEAD_SECONDS = 90;

/** Seconds past due after which the reconciler resends a delivery's message. */
export const DEFAULT_GRACE_SECONDS = 900;

/**
 * Age at which an open delivery ends as `expired`. All attempts span 63.5 minutes, and 51 hours under the
 * slowest allowed retry policy.
 */
export const EXPIRY_SECONDS = 3 * 86_400;

/** Deadline of the fetch of a source's content. */
export const FETCH_TIMEOUT_SECONDS = 20;
/** Timeout of the function that fetches and extracts one content, which leaves 10 seconds for the text. */
export const EXTRACT_TIMEOUT_SECONDS = 31;
/** Deadline of its invocation: longer than its timeout and the 10 seconds of a cold start. */
export const INVOKE_TIMEOUT_SECONDS = 45;
/** Function timeout of source checks: the invocations of a batch run at the same time. */
export const CHECK_TIMEOUT_SECONDS = 60;
/** Lease of a check on its source: longer than the function's timeout. */
export const CHECK_LEASE_SECONDS = 75;

/** Timeouts of an attempt in seconds. Each must be longer than the one before it. */
export interface AttemptClocks {
  /** The receiver's deadline. */
  attempt: number;
  /** Timeout of the dispatcher function: the attempt, plus read, claim and settlement. */
  functionTimeout: number;
  /** Lease of a claim: longer than the function's timeout. */
  lease: number;
  /**
   * Visibility timeout of the queue: longer than the lease, so that a crashed worker's lease has expired when
   * the message returns.
   */
  visibility: number;
}

/** Time for reads, claim and settlement with their retries. */
const WORK_AROUND_ATTEMPT = 10;
const MARGIN = 5;

/**
 * @param attemptSeconds the receiver's deadline, fractions allowed
 * @throws RangeError when it is below 0.1 s or above 60 s
 */
export function deriveAttemptClocks(attemptSeconds: number): AttemptClocks {
  if (!(attemptSeconds >= 0.1 && attemptSeconds <= 60))
    throw new RangeError('the attempt timeout must be between 0.1 and 60 seconds');
  const functionTimeout = Math.ceil(attemptSeconds) + WORK_AROUND_ATTEMPT;
  const lease = functionTimeout + MARGIN;
  return { attempt: attemptSeconds, functionTimeout, lease, visibility: lease + MARGIN };
}

/**
 * Checks timeouts that were set in several places: each must be longer than the one before it, and none may
 * be missing.
 * @returns one line per fault
 */
export function findClockFaults({ attempt, functionTimeout, lease, visibility }: AttemptClocks): string[] {
  const check = (shorter: string, seconds: number, longer: string, most: number) =>
    seconds < most ? [] : [`the ${shorter} (${seconds} s) must be shorter than the ${longer} (${most} s)`];
  return [
    ...check('attempt timeout', attempt, 'function timeout', functionTimeout),
    ...check('function timeout', functionTimeout, 'lease', lease),
    ...check('lease', lease, 'visibility timeout', visibility),
  ];
}

/** Timeout of the mail function and lease of its claims: the lease is longer. */
export const MAIL_TIMEOUT_SECONDS = 30;
export const MAIL_LEASE_SECONDS = 45;

/** Timeout of the function that runs redelivery jobs and its lease: the lease is longer. */
export const REDELIVER_TIMEOUT_SECONDS = 30;
export const REDELIVER_LEASE_SECONDS = 40;
/** After this time a round ends and sends the next message. The rest is for the current page. */
export const REDELIVER_ROUND_SECONDS = 10;

/** Waits between failed attempts. Seconds, fractions allowed. */
export interface RetryPolicy {
  baseSeconds: number;
  capSeconds: number;
  maxAttempts: number;
}

/** Attempts of a delivery (docs/specification.md, Limits). */
export const MAX_ATTEMPTS = 8;
/** docs/specification.md, Limits: base 30 s, doubled each time, at most 1 hour. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  baseSeconds: 30,
  capSeconds: 3600,
  maxAttempts: MAX_ATTEMPTS,
};

/**
 * Next attempt: `min(base * 2^(attempt-1), cap)` after the end of the failed one.
 * @param attempt number of the failed attempt, from 1
 */
export function scheduleNextAttempt(attempt: number, endedAt: Date, policy: RetryPolicy): Date {
  const seconds = Math.min(policy.baseSeconds * 2 ** (attempt - 1), policy.capSeconds);
  return new Date(endedAt.getTime() + Math.ceil(seconds * 1000));
}

/** Longest time for which a receiver puts off the next attempt by `Retry-After`. */
const MAX_HOLD_MS = 3_600_000;

/**
 * Time until which a receiver asks to wait, at most one hour after the attempt (docs/specification.md,
 * Deliveries). Undefined for a text that is neither whole seconds nor an HTTP date (RFC 9110, 10.2.3).
 * @param retryAfter value of the header
 */
export function parseRetryAfter(retryAfter: string, endedAt: Date): Date | undefined {
  const text = retryAfter.trim();
  const ms = /^\d+$/.test(text)
    ? Number(text) * 1000
    : /^[A-Z][a-z]+,? .+ (GMT|\d{4})$/.test(text)
      ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) - endedAt.getTime()
      : Number.NaN;
  return ms > 0 ? new Date(endedAt.getTime() + Math.min(ms, MAX_HOLD_MS)) : undefined;
}

/**
 * SQS limits visibility to 12 hours from the receive; a function may have held the message for up to 15
 * minutes.
 */
const MAX_VISIBILITY_SECONDS = 43_200 - 900;

/**
 * Visibility timeout of a message until a time, in whole seconds, rounded up: an early message costs a
 * receive. 0 for a past time.
 */
export const computeVisibilitySeconds = (until: Date, now: Date, most = MAX_VISIBILITY_SECONDS): number =>
  Math.min(Math.max(Math.ceil((until.getTime() - now.getTime()) / 1000), 0), most);

/** Maximum `DelaySeconds` of SQS. */
export const MAX_DELAY_SECONDS = 900;

/** `DelaySeconds` of a message sent now that must not arrive before `until`. */
export const computeDelaySeconds = (until: Date, now: Date): number =>
  computeVisibilitySeconds(until, now, MAX_DELAY_SECONDS);

/** Retry policy, to predict when an endpoint is disabled. */
export const RetryEnvironment = z.object({
  RETRY_BASE_SECONDS: DecimalNumber,
  RETRY_CAP_SECONDS: DecimalNumber,
  ATTEMPT_TIMEOUT_SECONDS: DecimalNumber,
});

/** The specification fixes the number of attempts; base and cap are configuration. */
export const retryPolicy = (
  environment: Pick<z.output<typeof RetryEnvironment>, 'RETRY_BASE_SECONDS' | 'RETRY_CAP_SECONDS'>,
) => ({
  ...DEFAULT_RETRY_POLICY,
  baseSeconds: environment.RETRY_BASE_SECONDS,
  capSeconds: environment.RETRY_CAP_SECONDS,
});
