import { MAX_ATTEMPTS } from './workload.ts';

/**
 * What becomes of deliveries whose attempts each fail with the same probability. All are shares of the
 * deliveries.
 */
export interface Fates {
  /** Attempts of each delivery on average. */
  attempts: number;
  succeededAtOnce: number;
  /** Succeeded at a later attempt. */
  retried: number;
  exhausted: number;
  /**
   * Failures between the first and the last attempt of deliveries that succeed later: each makes one more
   * attempt than a single retry has.
   */
  furtherFailures: number;
  /**
   * Waits that are parked: those before the seventh and the eighth attempt are longer than a queue should
   * hold.
   */
  parkedWaits: number;
}

/** Attempts after whose failure the wait is parked: 30 s doubling, and more than 15 minutes is parked. */
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
