import type { Delivery } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import { type RetryPolicy, scheduleNextAttempt } from './timing.ts';

/*
 * Ten consecutive failures disable an endpoint; any success between them resets the count, however long its
 * attempt took. The order is that of `terminalAt`. A success at a healthy endpoint neither reads nor writes
 * the endpoint: docs/decisions/0017-failure-streaks.md explains the protocol.
 */

/** For how long an endpoint counts as at risk after a delivery to it has come to its last attempts. */
export const AT_RISK_SECONDS = 86_400;
/** The attempts before the end from which on a delivery puts its endpoint at risk. */
const LAST_ATTEMPTS = 2;
/** Age from which every worker sees a mark: longer than a function may run, and than clocks differ. */
const KNOWN_AFTER_SECONDS = 300;
/** A mark with less time left than this may be over for others. */
const ENDING_SECONDS = 600;

/** Whether a delivery may end as a failure after this attempt or the next. */
export const mayExhaustSoon = (attempt: number, maxAttempts: number): boolean =>
  attempt > maxAttempts - LAST_ATTEMPTS;

const getSecondsLeft = ({ atRiskUntil }: Pick<Endpoint, 'atRiskUntil'>, now: Date): number =>
  atRiskUntil === undefined ? 0 : (Date.parse(atRiskUntil) - now.getTime()) / 1000;

/** Whether a mark has so little time left that it is to be renewed. */
export const needsRiskMark = (endpoint: Pick<Endpoint, 'atRiskUntil'>, now: Date): boolean =>
  getSecondsLeft(endpoint, now) < AT_RISK_SECONDS / 2;

/** Whether every worker that reads the endpoint now, eventually consistently, finds it at risk. */
export const isKnownAtRisk = (endpoint: Pick<Endpoint, 'atRiskUntil'>, now: Date): boolean => {
  const left = getSecondsLeft(endpoint, now);
  return left > ENDING_SECONDS && left <= AT_RISK_SECONDS - KNOWN_AFTER_SECONDS;
};

/**
 * How long a failure waits after its endpoint was marked, in seconds: every success that did not see the mark
 * has ended by then.
 * @param attemptSeconds the receiver's deadline
 */
export const computeUnseenSeconds = (attemptSeconds: number): number => Math.min(3, attemptSeconds / 3);

/** The share of it that a success may use. The rest allows for the lag of an eventually consistent read. */
const QUICK_SHARE = 1 / 3;

/**
 * Whether a success may end without reading its endpoint again, because no unseen failure can have been
 * counted before it ended.
 * @param endpoint as it was read before the attempt
 * @param readAt when the read began
 * @param endedAt when the attempt ended
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

/** What of an open delivery says when it would end. */
export type OpenDelivery = Pick<Delivery, 'attempts' | 'attemptLog' | 'nextRetryAt' | 'lease'>;

/**
 * When an open delivery would be exhausted if each attempt from now on failed, and took as long as its last
 * one has: the schedule of its retries (public-api.md, Limits). Not before `now`.
 */
export function predictExhaustion(delivery: OpenDelivery, policy: RetryPolicy, now: Date): Date {
  const { attempts, attemptLog, nextRetryAt, lease } = delivery;
  const lastMs = attemptLog.at(-1)?.durationMs ?? 0;
  const isUnderWay = lease !== undefined && lease.until > now.getTime();
  let at = new Date(Math.max(now.getTime(), Date.parse(nextRetryAt ?? '') || 0));
  let end = at;
  for (let number = isUnderWay ? attempts : attempts + 1; number <= policy.maxAttempts; number += 1) {
    end = new Date(at.getTime() + lastMs);
    at = scheduleNextAttempt(number, end, policy);
  }
  return end;
}

/**
 * When an endpoint would be disabled if none of its deliveries succeeded from now on: with the end of the
 * last one that it takes, of those that are open.
 * @param failures how many more in a row disable it
 * @returns null when fewer are open: then it takes events that have not happened yet
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

/** How late retries may come, as a part of their schedule. */
const LATENESS = 1.25;

/**
 * When a delivery that is open now was created at the earliest, as long as attempts come about when they are
 * due.
 * @param attemptSeconds the receiver's deadline
 */
export function computeOldestOpenTime(policy: RetryPolicy, attemptSeconds: number, now: Date): Date {
  let at = now;
  for (let number = 1; number < policy.maxAttempts; number += 1)
    at = scheduleNextAttempt(number, new Date(at.getTime() + attemptSeconds * 1000), policy);
  const spanMs = at.getTime() - now.getTime() + attemptSeconds * 1000;
  return new Date(now.getTime() - spanMs * LATENESS);
}
