import { MAX_DELAY_SECONDS } from './backoff.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * The delivery queues. First attempts and retries have one each, so that a storm of retries delays no fresh event; endpoints
 * that keep workers waiting have a third, so that they delay nobody but themselves.
 */
export const LANES = ['fresh', 'retry', 'slow'] as const;
export type Lane = (typeof LANES)[number];

/** An attempt that has no answer after this marks its endpoint as slow, long before its deadline. */
export const SLOW_AFTER_SECONDS = 0.5;
/** For how long the mark holds. A renewed one starts anew; without a renewal the endpoint is back in the fast lanes. */
export const SLOW_SECONDS = 120;

export const isSlow = (endpoint: Pick<Endpoint, 'slowUntil'> | undefined, now: Date): boolean =>
  endpoint?.slowUntil !== undefined && new Date(endpoint.slowUntil) > now;

/** Where first attempts are made. */
export type FirstLane = Exclude<Lane, 'retry'>;

/** Where the first attempt at an endpoint belongs. */
export const firstLaneOf = (endpoint: Pick<Endpoint, 'slowUntil'>, now: Date): FirstLane =>
  isSlow(endpoint, now) ? 'slow' : 'fresh';

/** A wait that SQS cannot hold back is spent in the table. */
export const LONGEST_QUEUED_WAIT_SECONDS = MAX_DELAY_SECONDS;

/** Messages in flight at which SQS gives out nothing more of a queue. */
export const IN_FLIGHT_LIMIT = 120_000;

/**
 * Messages in flight from which on a queue counts as crowded. SQS gives out nothing more at its limit, and a message hidden until its
 * retry is in flight. Half of that, because the count is approximate and each worker looks at it only now and then.
 */
export const CROWDED_IN_FLIGHT = 60_000;

/**
 * Where a delivery spends the wait for its next attempt: its message hidden in its own lane, sent to another lane and held back there (which
 * is not in flight), or no message at all and the table's word that it is due, which the reconciler finds.
 */
export type Hold = 'hidden' | 'delayed' | 'parked';

/** @param crowded whether the lane that it would wait in nears its limit of messages in flight */
export function holdOf(waitSeconds: number, from: Lane, to: Lane, crowded: boolean): Hold {
  if (crowded || waitSeconds > LONGEST_QUEUED_WAIT_SECONDS) return 'parked';
  return from === to ? 'hidden' : 'delayed';
}
