import type { Work } from '../../../lib/cost/measured.ts';
import { minus, type Tally, times } from './tally.ts';

const DECIMALS = 1000;

/** The cost of a unit, where errors of measurement leave nothing negative. */
export function workOf(tally: Tally): Work {
  const { writes, reads, sqsRequests, busEntries, requests, logBytes, logLines, cpuMs } = tally;
  const rounded = (value: number) => Math.max(0, Math.round(value * DECIMALS) / DECIMALS);
  return {
    writes: rounded(writes),
    reads: rounded(reads),
    sqsRequests: rounded(sqsRequests),
    busEntries: rounded(busEntries),
    requests: rounded(requests),
    logBytes: rounded(logBytes),
    logLines: rounded(logLines),
    cpuMs: rounded(cpuMs),
  };
}

/** The mean of an invocation. */
export const eachInvocation = (tally: Tally): Tally => times(tally, 1 / Math.max(1, tally.invocations));

/**
 * The cost of an invocation, and of each of its records, from two measurements with batches of different
 * sizes.
 * @throws RangeError when the sizes are too close
 */
export function fitted(small: Tally, large: Tally): { perBatch: Tally; perUnit: Tally } {
  const [smallBatch, other] = [eachInvocation(small), eachInvocation(large)];
  const difference = other.records - smallBatch.records;
  if (difference < 0.5)
    throw new RangeError(
      `batches of ${smallBatch.records} and ${other.records} records do not determine the cost of one`,
    );
  const perUnit = times(minus(other, smallBatch), 1 / difference);
  return { perBatch: minus(smallBatch, times(perUnit, smallBatch.records)), perUnit };
}
