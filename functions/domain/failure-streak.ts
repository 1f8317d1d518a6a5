import type { Endpoint } from './endpoint.ts';

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

const secondsLeft = ({ atRiskUntil }: Pick<Endpoint, 'atRiskUntil'>, now: Date): number =>
  atRiskUntil === undefined ? 0 : (Date.parse(atRiskUntil) - now.getTime()) / 1000;

/** Whether a mark has so little time left that it is to be renewed. */
export const isToBeMarked = (endpoint: Pick<Endpoint, 'atRiskUntil'>, now: Date): boolean =>
  secondsLeft(endpoint, now) < AT_RISK_SECONDS / 2;

/** Whether every worker that reads the endpoint now, eventually consistently, finds it at risk. */
export const isKnownAtRisk = (endpoint: Pick<Endpoint, 'atRiskUntil'>, now: Date): boolean => {
  const left = secondsLeft(endpoint, now);
  return left > ENDING_SECONDS && left <= AT_RISK_SECONDS - KNOWN_AFTER_SECONDS;
};

/**
 * How long a failure waits after its endpoint was marked, in seconds: every success that did not see the mark
 * has ended by then.
 * @param attemptSeconds the receiver's deadline
 */
export const unseenSeconds = (attemptSeconds: number): number => Math.min(3, attemptSeconds / 3);

/** The share of it that a success may use. The rest allows for the lag of an eventually consistent read. */
const QUICK_SHARE = 1 / 3;

/**
 * Whether a success may end without reading its endpoint again, because no unseen failure can have been
 * counted before it ended.
 * @param endpoint as it was read before the attempt
 * @param readAt when the read began
 * @param endedAt when the attempt ended
 */
export function endsUnseen(
  endpoint: Pick<Endpoint, 'consecutiveFailures' | 'streak' | 'atRiskUntil'>,
  readAt: Date,
  endedAt: Date,
  attemptSeconds: number,
): boolean {
  const elapsedSeconds = (endedAt.getTime() - readAt.getTime()) / 1000;
  const hasNoTrouble = endpoint.consecutiveFailures === 0 && endpoint.streak === undefined;
  return (
    hasNoTrouble &&
    secondsLeft(endpoint, endedAt) <= 0 &&
    elapsedSeconds <= QUICK_SHARE * unseenSeconds(attemptSeconds)
  );
}
