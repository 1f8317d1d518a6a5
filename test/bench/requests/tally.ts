import type { Piece } from '../../../lib/cost/measured.ts';

/** The work of a function in some time. */
export interface Tally {
  invocations: number;
  /** Records of the events that invoked it; 1 for an event without records. */
  records: number;
  /** Requests of the pollers of its queues: a receive and a deletion for ten messages or fewer. */
  polls: number;
  /** CPU of its processes while they were invoked. */
  cpuMs: number;
  reads: number;
  writes: number;
  sqsRequests: number;
  busEntries: number;
  /** Requests to AWS, all services. */
  requests: number;
  logLines: number;
  logBytes: number;
}

/** The work of functions, by name. */
export type Tallies = Readonly<Record<string, Tally>>;

export const NOTHING: Readonly<Tally> = {
  invocations: 0,
  records: 0,
  polls: 0,
  cpuMs: 0,
  reads: 0,
  writes: 0,
  sqsRequests: 0,
  busEntries: 0,
  requests: 0,
  logLines: 0,
  logBytes: 0,
};

const MEASURES = Object.keys(NOTHING) as (keyof Tally)[];

export const plus = (a: Tally, b: Partial<Tally>): Tally =>
  Object.fromEntries(MEASURES.map((name) => [name, a[name] + (b[name] ?? 0)])) as Record<keyof Tally, number>;

export const GIB = 2 ** 30;
/** MiB per processor (Lambda Developer Guide, "Configure function memory"). */
const MIB_OF_A_PROCESSOR = 1769;
/** Time of a request within a region, estimated from DynamoDB and SQS. */
const REQUEST_MS = 5;
/** Bytes that CloudWatch adds to each ingested line. */
const LOG_LINE_BYTES = 26;
/** CloudWatch bills stored logs compressed, to about this share, and keeps them for 90 days. */
export const STORED_LOG_MONTHS = (0.15 * 90 * 24) / 730;

/**
 * The billed quantities of one unit of a function's work. Lambda's duration is the processor time by the
 * memory's share of a processor, 5 ms for each request of a record (those of several records of a batch run
 * concurrently), and the time in which it waits for receivers.
 * @param units messages or deliveries in the tally
 * @param waitMs in which invocations wait for receivers
 */
export function usageOf(tally: Tally, units: number, memoryMiB: number, waitMs = 0): Piece[string] {
  const { invocations, records, cpuMs, reads, writes, sqsRequests, polls, busEntries, requests } = tally;
  const ms =
    cpuMs / Math.min(1, memoryMiB / MIB_OF_A_PROCESSOR) +
    (REQUEST_MS * requests * invocations) / Math.max(1, records) +
    waitMs;
  const logGb = (tally.logBytes + tally.logLines * LOG_LINE_BYTES) / GIB;
  return shared(units, {
    writeUnits: writes,
    readUnits: reads,
    // The bus sends each of its events to the queue of the meter.
    queueRequests: sqsRequests + polls + busEntries,
    busEvents: busEntries,
    invocations,
    gbSeconds: (ms / 1000) * (memoryMiB / 1024),
    logGb,
    logGbMonths: logGb * STORED_LOG_MONTHS,
  });
}

/** The share of each of some units, with four digits and without zeros. */
export const shared = (units: number, all: Piece[string]): Piece[string] =>
  Object.fromEntries(
    Object.entries(all)
      .filter(([, value]) => value > 0)
      .map(([name, value]) => [name, Number((value / units).toPrecision(4))]),
  );
