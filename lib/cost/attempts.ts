import { MAX_ATTEMPTS } from './workload.ts';

/** Outcomes, as shares of the deliveries, if each attempt fails with the same probability. */
export interface Fates {
  /** Mean attempts per delivery. */
  attempts: number;
  succeededAtOnce: number;
  /** Succeeded at a later attempt. */
  retried: number;
  exhausted: number;
  /**
   * Failures between the first and last attempt of deliveries that succeed later: attempts beyond a single
   * retry.
   */
  furtherFailures: number;
  /** Parked waits: those before the seventh and eighth attempt are too long for a queue. */
  parkedWaits: number;
}

/** Attempts whose failure parks the wait: 30 s doubling exceeds 15 minutes. */
export const PARKED_AFTER = [6, 7] as const;

/** @param failure probability that an attempt fails, from 0 to 1 */
export function fatesOf(failure: number): Fates {
  const starts = Array.from({ length: MAX_ATTEMPTS }, (_, index) => failure ** index);
  const exhausted = failure ** MAX_ATTEMPTS;
  // A delivery that succeeds at its n-th attempt has n - 2 failures more than one that succeeds at its
  // second.
  const furtherFailures = starts.reduce(
    (sum, reached, index) => sum + Math.max(0, index - 1) * reached * (1 - failure),
    0,
  );
  return {
    attempts: starts.reduce((sum, reached) => sum + reached, 0),
    succeededAtOnce: 1 - failure,
    retried: failure - exhausted,
    exhausted,
    furtherFailures,
    parkedWaits: PARKED_AFTER.reduce((sum, attempt) => sum + failure ** attempt, 0),
  };
}
