import type { Endpoint } from './endpoint.ts';

/*
 * Ten failures in a row disable an endpoint, and any success between them sets the count to 0, however long its attempt was under way
 * (decisions.md, Deliveries). The count is exact in the order of `terminalAt`, and a success at an endpoint without trouble neither reads nor
 * writes the endpoint: docs/decisions/0017-failure-streaks.md says how.
 */

/** For how long an endpoint counts as at risk after a delivery to it has come to its last attempts. */
export const AT_RISK_SECONDS = 86_400;
/** The attempts before the end from which on a delivery puts its endpoint at risk. */
const LAST_ATTEMPTS = 2;
/** After so long a mark is known to all: no function lives as long that wrote it or read the endpoint before, and clocks differ by less. */
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
 * How long a failure waits at an endpoint that has only just been marked, until every success that did not see the mark has ended. In seconds.
 * @param attemptSeconds the receiver's deadline
 */
export const unseenSeconds = (attemptSeconds: number): number => Math.min(3, attemptSeconds / 3);

/** The part of it that a success may take from reading the endpoint to its end. The rest is for how far a read may be behind. */
const QUICK_SHARE = 1 / 3;

/**
 * Whether a success may end without another look at its endpoint: no failure of which it does not know can have been counted before its end.
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
