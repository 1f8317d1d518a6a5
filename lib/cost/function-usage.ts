import { gbSecondsOf } from './function-time.ts';
import type { Work } from './measured.ts';
import { type Quantities, quantities } from './quantities.ts';

export const GIB = 2 ** 30;
/** What CloudWatch adds to each line that it takes in. */
const LOG_LINE_BYTES = 26;
/** Messages that one request to SQS may carry. */
export const SQS_BATCH = 10;

/** What a function did. */
export interface Activity {
  memoryMiB: number;
  invocations: number;
  /** All that it did, in all invocations. */
  work: Work;
  /** Milliseconds of each invocation in which it only waits. */
  waits: number;
}

/**
 * What a function's activity is charged as: its invocations and their time, its logs, and what it asks of
 * other services.
 */
export const functionUsage = ({ memoryMiB, invocations, work, waits }: Activity): Quantities =>
  quantities({
    writeUnits: work.writes,
    readUnits: work.reads,
    queueRequests: work.sqsRequests,
    busEvents: work.busEntries,
    invocations,
    gbSeconds: gbSecondsOf(memoryMiB, invocations, work, waits),
    // Lambda's own lines are of a level that is not written.
    logGb: (work.logBytes + work.logLines * LOG_LINE_BYTES) / GIB,
  });

/**
 * What Lambda itself asks of a queue to invoke a function with batches from it: a receive and a deletion for
 * every ten messages and less.
 */
export const pollerUsage = (invocations: number, batch: number): Quantities =>
  quantities({ queueRequests: 2 * invocations * Math.max(1, batch / SQS_BATCH) });
