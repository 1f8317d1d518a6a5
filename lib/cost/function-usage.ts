import { gbSecondsOf } from './function-time.ts';
import type { Work } from './measured.ts';
import { type Quantities, quantities } from './quantities.ts';

export const GIB = 2 ** 30;
/** Bytes that CloudWatch adds to each ingested line. */
const LOG_LINE_BYTES = 26;
/** SQS's limit on the messages of a request. */
export const SQS_BATCH = 10;

export interface Activity {
  memoryMiB: number;
  invocations: number;
  /** Total of all invocations. */
  work: Work;
  /** Milliseconds of each invocation in which it only waits. */
  waits: number;
}

/** Billed quantities of a function: invocations, their duration, logs and requests. */
export const functionUsage = ({ memoryMiB, invocations, work, waits }: Activity): Quantities =>
  quantities({
    writeUnits: work.writes,
    readUnits: work.reads,
    queueRequests: work.sqsRequests,
    busEvents: work.busEntries,
    invocations,
    gbSeconds: gbSecondsOf(memoryMiB, invocations, work, waits),
    // Lambda's own lines are below the log level.
    logGb: (work.logBytes + work.logLines * LOG_LINE_BYTES) / GIB,
  });

/** Requests of Lambda's pollers: a receive and a deletion per ten messages or fewer. */
export const pollerUsage = (invocations: number, batch: number): Quantities =>
  quantities({ queueRequests: 2 * invocations * Math.max(1, batch / SQS_BATCH) });
