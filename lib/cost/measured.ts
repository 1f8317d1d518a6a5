import * as z from 'zod';

const Count = z.number().nonnegative();

/** Work of a function per unit, counted on the local run. */
export const Work = z.strictObject({
  /** DynamoDB write and read request units, including indexes. */
  writes: Count,
  reads: Count,
  /** The function's SQS requests, without those of its event source. */
  sqsRequests: Count,
  busEntries: Count,
  /** Requests to all AWS services that the function waits for. */
  requests: Count,
  /** Bytes and lines of its logs, without Lambda's own lines. */
  logBytes: Count,
  logLines: Count,
  /** Milliseconds of one core of the machine that measured. */
  cpuMs: Count,
});
export type Work = z.output<typeof Work>;

/** Fixed work of a batch, and the work of each unit in it. */
const Batched = z.strictObject({ perBatch: Work, perUnit: Work });

/** Work of a delivery by outcome, in addition to its batches. */
const Delivery = z.strictObject({ attempts: Count, dispatch: Work, watch: Work });

const Mapping = z.strictObject({
  function: z.string(),
  source: z.enum(['queue', 'stream']),
  /** Lane of a delivery queue. */
  lane: z.optional(z.string()),
  batchSize: Count,
  windowSeconds: Count,
});

export const Measured = z.strictObject({
  /** ISO 8601 date. */
  date: z.string().regex(/^\d{4}-\d\d-\d\d$/),
  machine: z.string(),
  template: z.strictObject({
    /** MiB by function. */
    memory: z.record(z.string(), Count),
    mappings: z.array(Mapping),
    /** Runs per hour of scheduled functions. */
    schedules: z.record(z.string(), Count),
    queues: Count,
    tables: Count,
    alarms: Count,
    dashboards: Count,
    customMetrics: Count,
    secrets: Count,
    keys: Count,
    webAcls: Count,
    /** Of all web ACLs; a managed rule group counts as one. */
    webAclRules: Count,
    logRetentionDays: Count,
  }),
  /** A call of each route, by its function's name; `withKey` has an `Idempotency-Key`. */
  calls: z.record(z.string(), z.strictObject({ withKey: z.optional(Work), withoutKey: z.optional(Work) })),
  /** Fan-out of each event, and of each of its deliveries. */
  fanOut: z.strictObject({ perBatch: Work, perEvent: Work, perDelivery: Work }),
  dispatchBatch: Work,
  /** A batch of the deliveries' stream, per endpoint beyond the first. */
  watchEndpoint: Work,
  deliveries: z.strictObject({
    succeeded: Delivery,
    retried: Delivery,
    exhausted: Delivery,
    skipped: Delivery,
    timedOut: Delivery,
  }),
  /**
   * Of endpoints with a limit of attempts per second: the schedule's write for an endpoint in a batch, and a
   * wait in a queue beyond the batch in which it ends.
   */
  limited: z.strictObject({ turn: Work, queuedWait: Work }),
  /** A parked wait, instead of one that the queue holds. */
  parkedWait: Work,
  publish: Batched,
  meter: Batched,
  /** A run of each scheduled function without work. */
  idle: z.record(z.string(), Work),
  /** Bytes of items, including attribute names, beyond their body or text. */
  items: z.strictObject({ event: Count, delivery: Count, message: Count, idempotency: Count, mark: Count }),
  /** Bytes of the body of a message's event: ids only, without the text. */
  bodyBytes: Count,
  /** Bytes on the wire of an attempt on a kept-alive connection, beyond its body. */
  wireBytes: Count,
});
export type Measured = z.output<typeof Measured>;
export type DeliveryKind = keyof Measured['deliveries'];

export const NO_WORK: Work = {
  writes: 0,
  reads: 0,
  sqsRequests: 0,
  busEntries: 0,
  requests: 0,
  logBytes: 0,
  logLines: 0,
  cpuMs: 0,
};

/** Weighted sum. */
export const workOf = (...parts: readonly (readonly [times: number, work: Work])[]): Work =>
  Work.parse(
    Object.fromEntries(
      (Object.keys(NO_WORK) as (keyof Work)[]).map((measure) => [
        measure,
        parts.reduce((sum, [times, work]) => sum + times * work[measure], 0),
      ]),
    ),
  );
