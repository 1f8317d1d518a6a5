/**
 * Most deliveries of a job that wait for their first attempt at a time. A sixth of the batches of the fresh
 * queue in production, if each of them fills one.
 */
export const MOST_AT_ONCE = 16;

/** What twice as many deliveries at a time must gain in deliveries per second to be worth their load. */
const GAIN = 1.4;

/** How many deliveries a job sends at a time. */
export interface RedeliveryPace {
  readonly atOnce: number;
  /** How long the last group took, in seconds; 0 before the first. */
  readonly lastSeconds: number;
  /** Learns from a group: from its first write until all of its deliveries have had their first attempt. */
  learn(count: number, seconds: number): void;
}

/**
 * Finds the smallest number of deliveries at a time with which a job is about as fast as with more. Beyond
 * it, more deliveries only wait: for the receiver, for a dispatcher, or for a processor, and live deliveries
 * wait with them. The number doubles from half of the last round's, as long as that makes the job faster.
 * @param last the number of the last round
 */
export function createPace(last = 1): RedeliveryPace {
  const fastest = new Map<number, number>();
  let atOnce = Math.max(1, Math.floor(Math.min(last, MOST_AT_ONCE) / 2));
  let lastSeconds = 0;
  let mayGrow = true;
  return {
    get atOnce() {
      return atOnce;
    },
    get lastSeconds() {
      return lastSeconds;
    },
    learn(count, seconds) {
      lastSeconds = seconds;
      // The rest of a page says nothing about a whole group.
      if (count !== atOnce) return;
      const rate = count / Math.max(seconds, 0.001);
      const half = fastest.get(count / 2);
      fastest.set(count, Math.max(rate, fastest.get(count) ?? 0));
      if (half !== undefined && rate < GAIN * half) {
        atOnce = count / 2;
        mayGrow = false;
      } else if (mayGrow) atOnce = Math.min(MOST_AT_ONCE, count * 2);
    },
  };
}
