import type { Delivery } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import { type RetryPolicy, scheduleNextAttempt } from './timing.ts';

/*
 * Ten consecutive failures disable an endpoint; a success in between resets the count, however long its
 * attempt took. The order is that of `terminalAt`. A success at a healthy endpoint neither reads nor writes
 * the endpoint (docs/decisions/0017-failure-streaks.md).
 */

/** How long an endpoint counts as at risk after one of its deliveries reached its last attempts. */
export const AT_RISK_SECONDS = 86_400;
/** Number of last attempts in which a delivery puts its endpoint at risk. */
const LAST_ATTEMPTS = 2;
/** Age from which every worker sees a mark: longer than a function runs, and than clocks differ. */
const KNOWN_AFTER_SECONDS = 300;
/** A mark with less time left may have expired for other workers. */
const ENDING_SECONDS = 600;

/** Whether a delivery may end as a failure after this attempt or the next. */
export const mayExhaustSoon = (attempt: number, maxAttempts: number): boolean =>
  attempt > maxAttempts - LAST_ATTEMPTS;

const getSecondsLeft = ({ atRiskUntil }: Pick<Endpoint, 'atRiskUntil'>, now: Date): number =>
  atRiskUntil === undefined ? 0 : (Date.parse(atRiskUntil) - now.getTime()) / 1000;

/** Whether a mark is missing, or has less than half of its time left. */
export const needsRiskMark = (endpoint: Pick<Endpoint, 'atRiskUntil'>, now: Date): boolean =>
  getSecondsLeft(endpoint, now) < AT_RISK_SECONDS / 2;

/** Whether every worker sees the mark, even with an eventually consistent read. */
export const isKnownAtRisk = (endpoint: Pick<Endpoint, 'atRiskUntil'>, now: Date): boolean => {
  const left = getSecondsLeft(endpoint, now);
  return left > ENDING_SECONDS && left <= AT_RISK_SECONDS - KNOWN_AFTER_SECONDS;
};

/**
 * Seconds that a failure waits after its endpoint was marked: by then every success that did not see the mark
 * has ended.
 * @param attemptSeconds the receiver's deadline
 */
export const computeUnseenSeconds = (attemptSeconds: number): number => Math.min(3, attemptSeconds / 3);

/** Share of that time that a success may use. The rest covers the lag of an eventually consistent read. */
const QUICK_SHARE = 1 / 3;

/**
 * Whether a success may end without reading its endpoint again, because no unseen failure can have been
 * counted before.
 * @param endpoint as read before the attempt
 * @param readAt start of that read
 * @param endedAt end of the attempt
 */
export function isTooQuickToSee(
  endpoint: Pick<Endpoint, 'consecutiveFailures' | 'streak' | 'atRiskUntil'>,
  readAt: Date,
  endedAt: Date,
  attemptSeconds: number,
): boolean {
  const elapsedSeconds = (endedAt.getTime() - readAt.getTime()) / 1000;
  const hasNoTrouble = endpoint.consecutiveFailures === 0 && endpoint.streak === undefined;
  return (
    hasNoTrouble &&
    getSecondsLeft(endpoint, endedAt) <= 0 &&
    elapsedSeconds <= QUICK_SHARE * computeUnseenSeconds(attemptSeconds)
  );
}

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
