import { fatesOf, PARKED_AFTER } from './attempts.ts';
import { batchOf, distinct } from './batches.ts';
import { REQUEST_MS } from './function-time.ts';
import { type Activity, functionUsage, GIB, pollerUsage, SQS_BATCH } from './function-usage.ts';
import { type DeliveryKind, type Measured, NO_WORK, type Work, workOf } from './measured.ts';
import { type Quantities, quantities, sumOf } from './quantities.ts';
import { MAX_ATTEMPTS, type Workload } from './workload.ts';

/**
 * From the first byte of DNS to a receiver's answer (docs/specification.md, Attempts): all of it
 * passes where none comes.
 */
const DEADLINE_MS = 10_000;
/** Bytes of an item that one read request unit reads twice, not consistently. */
const READ_UNIT_BYTES = 4096;
/** Of an entry in the due index: that it appears, and that it goes. */
const ENTRY_WRITES = 2;
/** Further failures of an exhausted delivery, over one with a single retry. */
const FURTHER_FAILURES = MAX_ATTEMPTS - 2;

/** The way of events from the outbox to receivers, part by part. */
export interface DeliveryUsage {
  fanOut: Quantities;
  /** All attempts but those at endpoints that hang. */
  attempts: Quantities;
  /** Attempts at endpoints that hang. */
  hangingAttempts: Quantities;
  /** The ledger, and the entries of pending deliveries. */
  watch: Quantities;
}

/** Counts that parts share. */
interface Frame {
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
 * Batches of a function for so many records of a month, and the records of each.
 * @param lane of the dispatcher's
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

/** Requests are made one after the other for each record, and of all records at once. */
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
      // The endpoints are read once for each organization of a batch, and ten delivery messages are sent by
      // one request.
      reads: work.reads + batches * perBatch.reads * (organizations - 1),
      sqsRequests: batches * Math.max(Math.min(1, perMessage * size), (perMessage * size) / SQS_BATCH),
    },
    waits: waitsOf(perBatch, perDelivery),
  };
  return functionUsage(activity);
}

const delivery = ({ measured }: Frame, kind: DeliveryKind) => measured.deliveries[kind];

/** What one failure more takes: an exhausted delivery has six that one with a single retry has not. */
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
    dispatched(frame, {
      lane: 'fresh',
      messages: deliveries,
      work: { ...work, writes: work.writes + ENTRY_WRITES * entries },
    }),
    // Later attempts come from a queue of their own; what they do is counted above.
    dispatched(frame, { lane: 'retry', messages: deliveries * (fates.attempts - 1), work: NO_WORK }),
  ]);
}

/** Messages of a lane. */
interface Dispatched {
  lane: string;
  messages: number;
  /** What they take beside their batches. */
  work: Work;
  /** Milliseconds of each batch until the last receiver has answered, or the deadline has come. */
  receiverMs?: number;
  /** Whether a request goes out for each; some are only moved to another lane. */
  isSent?: boolean;
}

function dispatched(
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
      // An endpoint is read once for a batch, and each event by itself.
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
 * Endpoints that hang are marked as stalled by their first time-out for longer than they then stay without an
 * attempt, so all of their attempts are taken to be in that lane.
 */
function hangingUsage(frame: Frame): Quantities {
  const { workload, measured } = frame;
  const deliveries = workload.deliveries * workload.hangingRate;
  const parked = deliveries * PARKED_AFTER.length;
  const { dispatch } = delivery(frame, 'timedOut');
  return sumOf([
    dispatched(frame, {
      lane: 'stalled',
      messages: deliveries * MAX_ATTEMPTS,
      work: workOf([deliveries, dispatch], [parked, measured.parkedWait]),
      receiverMs: DEADLINE_MS,
    }),
    // What was parked comes back by the retry lane, and is moved from there.
    dispatched(frame, {
      lane: 'retry',
      messages: parked,
      work: { ...NO_WORK, requests: parked, sqsRequests: parked },
      receiverMs: 0,
      isSent: false,
    }),
  ]);
}

/**
 * Share of the deliveries whose beginning and end are in two batches of the stream: they get an entry, which
 * their end removes.
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
  // Two records of each delivery: that it was added, and that it ended.
  const { batches, size } = batchesOf(frame, 'delivery-stream', 2 * deliveries);
  const endpoints = distinct(workload.endpoints, Math.max(1, size / 2));
  const ofKind = (kind: DeliveryKind) => delivery(frame, kind).watch;
  const entries = straddlingShare(workload, measured) * fates.succeededAtOnce;
  const each = workOf(
    [(1 - hangingRate) * fates.succeededAtOnce, ofKind('succeeded')],
    [(1 - hangingRate) * (fates.retried + entries), ofKind('retried')],
    [(1 - hangingRate) * fates.exhausted, ofKind('exhausted')],
    [hangingRate, ofKind('timedOut')],
  );
  const { watchEndpoint } = measured;
  const work = workOf([batches, watchEndpoint], [deliveries, each]);
  const further = batches * (endpoints - 1);
  return functionUsage({
    memoryMiB: memoryOf(frame, 'delivery-stream'),
    invocations: batches,
    work: { ...work, writes: work.writes + further * watchEndpoint.writes },
    waits: waitsOf(watchEndpoint),
  });
}
