import { fatesOf, PARKED_AFTER } from './attempts.ts';
import { batchOf, distinct } from './batches.ts';
import { REQUEST_MS } from './function-time.ts';
import { type Activity, functionUsage, GIB, pollerUsage, SQS_BATCH } from './function-usage.ts';
import { type DeliveryKind, type Measured, NO_WORK, type Work, workOf } from './measured.ts';
import { type Quantities, quantities, sumOf } from './quantities.ts';
import { MAX_ATTEMPTS, type Workload } from './workload.ts';

/**
 * From the first byte of DNS to a receiver's response (docs/specification.md, Attempts); a receiver that
 * hangs uses all of it.
 */
const DEADLINE_MS = 10_000;
/** Bytes per half read request unit (eventually consistent). */
const READ_UNIT_BYTES = 4096;
/** An entry in the due index is added and removed. */
const ENTRY_WRITES = 2;
/** Failures of an exhausted delivery beyond those of one with a single retry. */
const FURTHER_FAILURES = MAX_ATTEMPTS - 2;

/** Usage by step, from the outbox to receivers. */
export interface DeliveryUsage {
  fanOut: Quantities;
  /** All attempts except at endpoints that hang. */
  attempts: Quantities;
  hangingAttempts: Quantities;
  /** The ledger, and the index entries of pending deliveries. */
  watch: Quantities;
}

export interface Frame {
  workload: Workload;
  measured: Measured;
  /** Seconds over which the month's work is spread. */
  seconds: number;
}

export function deliveryUsage(workload: Workload, measured: Measured): DeliveryUsage {
  const frame = { workload, measured, seconds: workload.busyHours * 3600 };
  return {
    fanOut: fanOutUsage(frame),
    attempts: attemptUsage(frame),
    hangingAttempts: hangingUsage(frame),
    watch: watchUsage(frame),
  };
}

/**
 * Batches of a function for a month's records, and the records of each.
 * @param lane of the dispatcher's queues
 */
export function batchesOf(
  { workload, measured, seconds }: Frame,
  fn: string,
  records: number,
  lane?: string,
) {
  const mapping = measured.template.mappings.find((one) => one.function === fn && one.lane === lane);
  if (mapping === undefined) throw new Error(`nothing invokes ${fn} with batches: measure anew`);
  const size =
    workload.batch === undefined
      ? batchOf(mapping, records / seconds)
      : Math.min(workload.batch, mapping.batchSize);
  return { batches: records / size, size };
}

export const memoryOf = ({ measured }: Pick<Frame, 'measured'>, fn: string): number => {
  const memory = measured.template.memory[fn];
  if (memory === undefined) throw new Error(`the template has no function ${fn}: measure anew`);
  return memory;
};

/** Milliseconds of a batch's requests: sequential per record, concurrent across records. */
export const waitsOf = (...parts: readonly Work[]): number =>
  REQUEST_MS * parts.reduce((sum, { requests }) => sum + requests, 0);

function fanOutUsage(frame: Frame): Quantities {
  const { workload, measured } = frame;
  const { perBatch, perEvent, perDelivery } = measured.fanOut;
  const { batches, size } = batchesOf(frame, 'fan-out', workload.messages);
  const perMessage = workload.messages === 0 ? 0 : workload.deliveries / workload.messages;
  const organizations = distinct(workload.organizations, size);
  const work = workOf([batches, perBatch], [workload.messages, perEvent], [workload.deliveries, perDelivery]);
  const activity: Activity = {
    memoryMiB: memoryOf(frame, 'fan-out'),
    invocations: batches,
    work: {
      ...work,
      // Endpoints are read once per organization in a batch; ten delivery messages go into one request.
      reads: work.reads + batches * perBatch.reads * (organizations - 1),
      sqsRequests: batches * Math.max(Math.min(1, perMessage * size), (perMessage * size) / SQS_BATCH),
    },
    waits: waitsOf(perBatch, perDelivery),
  };
  return functionUsage(activity);
}

const delivery = ({ measured }: Frame, kind: DeliveryKind) => measured.deliveries[kind];

/** Cost of one more failure: an exhausted delivery has six more than one with a single retry. */
const furtherFailure = (retried: Work, exhausted: Work): Work =>
  workOf([1 / FURTHER_FAILURES, difference(exhausted, retried)]);

const difference = (more: Work, less: Work): Work => ({
  ...NO_WORK,
  ...Object.fromEntries(
    (Object.keys(NO_WORK) as (keyof Work)[]).map((measure) => [
      measure,
      Math.max(0, more[measure] - less[measure]),
    ]),
  ),
});

function attemptUsage(frame: Frame): Quantities {
  const { workload, measured } = frame;
  const fates = fatesOf(workload.failureRate);
  const deliveries = workload.deliveries * (1 - workload.hangingRate);
  const retried = delivery(frame, 'retried').dispatch;
  const exhausted = delivery(frame, 'exhausted').dispatch;
  const work = workOf(
    [deliveries * fates.succeededAtOnce, delivery(frame, 'succeeded').dispatch],
    [deliveries * fates.retried, retried],
    [deliveries * fates.furtherFailures, furtherFailure(retried, exhausted)],
    [deliveries * fates.exhausted, exhausted],
    [deliveries * fates.parkedWaits, measured.parkedWait],
  );
  const entries = deliveries * fates.succeededAtOnce * straddlingShare(workload, measured);
  return sumOf([
    dispatchUsage(frame, {
      lane: 'fresh',
      messages: deliveries,
      work: { ...work, writes: work.writes + ENTRY_WRITES * entries },
    }),
    // Later attempts come from another queue; their work is counted above.
    dispatchUsage(frame, { lane: 'retry', messages: deliveries * (fates.attempts - 1), work: NO_WORK }),
  ]);
}

interface Dispatched {
  lane: string;
  messages: number;
  /** Their work in addition to their batches. */
  work: Work;
  /** Milliseconds of each batch until the last receiver has responded or the deadline has passed. */
  receiverMs?: number;
  /** Whether each message sends a request; some only move to another lane. */
  isSent?: boolean;
}

export function dispatchUsage(
  frame: Frame,
  { lane, messages, work, receiverMs = frame.workload.receiverLatencyMs, isSent = true }: Dispatched,
): Quantities {
  const { workload, measured } = frame;
  const { batches, size } = batchesOf(frame, 'dispatch', messages, lane);
  const endpoints = distinct(workload.endpoints, size);
  const total = workOf([1, work], [batches, measured.dispatchBatch]);
  const activity: Activity = {
    memoryMiB: memoryOf(frame, 'dispatch'),
    invocations: batches,
    work: {
      ...total,
      // Endpoints are read once per batch, events one by one.
      reads:
        total.reads +
        batches * measured.dispatchBatch.reads * (endpoints - 1) +
        messages * furtherEventReads(workload, measured),
    },
    waits: waitsOf(measured.dispatchBatch, delivery(frame, 'succeeded').dispatch) + receiverMs,
  };
  return sumOf([
    functionUsage(activity),
    pollerUsage(batches, size),
    quantities({ egressGb: isSent ? (messages * (workload.bodySize + measured.wireBytes)) / GIB : 0 }),
  ]);
}

const furtherEventReads = ({ bodySize }: Workload, { items }: Measured): number =>
  0.5 * (Math.ceil((items.event + bodySize) / READ_UNIT_BYTES) - 1);

/**
 * The first timeout marks an endpoint as stalled for longer than the wait until its next attempt, so all of
 * its attempts count for that lane.
 */
function hangingUsage(frame: Frame): Quantities {
  const { workload, measured } = frame;
  const deliveries = workload.deliveries * workload.hangingRate;
  const parked = deliveries * PARKED_AFTER.length;
  const { dispatch } = delivery(frame, 'timedOut');
  return sumOf([
    dispatchUsage(frame, {
      lane: 'stalled',
      messages: deliveries * MAX_ATTEMPTS,
      work: workOf([deliveries, dispatch], [parked, measured.parkedWait]),
      receiverMs: DEADLINE_MS,
    }),
    // Parked deliveries return through the retry lane, which moves them on.
    dispatchUsage(frame, {
      lane: 'retry',
      messages: parked,
      work: { ...NO_WORK, requests: parked, sqsRequests: parked },
      receiverMs: 0,
      isSent: false,
    }),
  ]);
}

/**
 * Share of the deliveries that begin and end in different batches of the stream: they get an index entry,
 * which their end removes.
 */
function straddlingShare({ receiverLatencyMs }: Workload, { template, dispatchBatch }: Measured): number {
  const window = template.mappings.find((one) => one.function === 'delivery-stream')?.windowSeconds ?? 0;
  const openMs = receiverLatencyMs + waitsOf(dispatchBatch);
  return window === 0 ? 1 : Math.min(1, openMs / (window * 1000));
}

function watchUsage(frame: Frame): Quantities {
  const { workload, measured } = frame;
  const { deliveries, hangingRate } = workload;
  const fates = fatesOf(workload.failureRate);
  // Two records per delivery: its creation and its end.
  const { batches, size } = batchesOf(frame, 'delivery-stream', 2 * deliveries);
  const endpoints = distinct(workload.endpoints, Math.max(1, size / 2));
  const ofKind = (kind: DeliveryKind) => delivery(frame, kind).watch;
  const entries = straddlingShare(workload, measured) * fates.succeededAtOnce;
  const perDelivery = workOf(
    [(1 - hangingRate) * fates.succeededAtOnce, ofKind('succeeded')],
    [(1 - hangingRate) * (fates.retried + entries), ofKind('retried')],
    [(1 - hangingRate) * fates.exhausted, ofKind('exhausted')],
    [hangingRate, ofKind('timedOut')],
  );
  const { watchEndpoint } = measured;
  const work = workOf([batches, watchEndpoint], [deliveries, perDelivery]);
  const further = batches * (endpoints - 1);
  return functionUsage({
    memoryMiB: memoryOf(frame, 'delivery-stream'),
    invocations: batches,
    work: { ...work, writes: work.writes + further * watchEndpoint.writes },
    waits: waitsOf(watchEndpoint),
  });
}
