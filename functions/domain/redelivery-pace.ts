/**
 * A larger group may take so many times as long as a smaller one to be worth its load: twice as many must
 * give 1.4 times as many deliveries a second.
 */
const LONGER = 2 / 1.4;

/** How many deliveries a job sends at a time. */
export interface RedeliveryPace {
  readonly most: number;
  readonly atOnce: number;
  /** How long the last group took, in seconds; 0 before the first. */
  readonly lastSeconds: number;
  /** Learns from a group: from its first write until all of its deliveries have had their first attempt. */
  learn(count: number, seconds: number): void;
}

/** The group before one in the row 1, 2, 4, 8 and so on, which ends with the largest allowed group. */
const getSmaller = (count: number): number => (count <= 1 ? 1 : 2 ** (Math.ceil(Math.log2(count)) - 1));

/**
 * Finds the smallest number of deliveries at a time with which a job is about as fast as with more. Beyond
 * it, more deliveries only wait: for the receiver, for a dispatcher, or for a processor, and live deliveries
 * wait with them. The number doubles from about half of the last round's, as long as that makes the job
 * faster.
 * @param most the largest allowed number
 * @param last the number of the last round
 */
export function createPace(most: number, last = 1): RedeliveryPace {
  const shortest = new Map<number, number>();
  let atOnce = getSmaller(Math.min(last, most));
  let lastSeconds = 0;
  let mayGrow = true;
  return {
    most,
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
      const smaller = getSmaller(count);
      const before = smaller < count ? shortest.get(smaller) : undefined;
      shortest.set(count, Math.min(seconds, shortest.get(count) ?? seconds));
      if (before !== undefined && seconds > Math.max(before, 0.001) * LONGER) {
        atOnce = smaller;
        mayGrow = false;
      } else if (mayGrow) atOnce = Math.min(most, count * 2);
    },
  };
}
