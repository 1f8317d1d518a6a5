import * as z from 'zod';

const Count = z.number().nonnegative();

/** What one function does for one unit of work, by what was counted on the local run. */
export const Work = z.strictObject({
  /** Write and read request units of DynamoDB, those of indexes included. */
  writes: Count,
  reads: Count,
  /** Requests that the function makes of SQS; what its event source does is not among them. */
  sqsRequests: Count,
  busEntries: Count,
  /** Requests of AWS, all services, which it waits for. */
  requests: Count,
  /** Bytes and lines that it logs; Lambda's own lines are not among them. */
  logBytes: Count,
  logLines: Count,
  /** Time of a whole core of the machine that measured. */
  cpuMs: Count,
});
export type Work = z.output<typeof Work>;

/** A function that is invoked with batches: the fixed cost of a batch, and what each unit of it adds. */
const Batched = z.strictObject({ perBatch: Work, perUnit: Work });

/** How deliveries end, and what that takes of each function beside the batches. */
const Delivery = z.strictObject({ attempts: Count, dispatch: Work, watch: Work });

const Mapping = z.strictObject({
  function: z.string(),
  source: z.enum(['queue', 'stream']),
  /** The lane of a delivery queue. */
  lane: z.optional(z.string()),
  batchSize: Count,
  windowSeconds: Count,
});

export const Measured = z.strictObject({
  /** ISO 8601 day. */
  date: z.string().regex(/^\d{4}-\d\d-\d\d$/),
  machine: z.string(),
  /** What the template says. */
  template: z.strictObject({
    /** MiB of each function. */
    memory: z.record(z.string(), Count),
    mappings: z.array(Mapping),
    /** Runs an hour of the functions that run by schedule. */
    schedules: z.record(z.string(), Count),
    queues: Count,
    tables: Count,
    alarms: Count,
    dashboards: Count,
    customMetrics: Count,
    secrets: Count,
    keys: Count,
    webAcls: Count,
    /** Of all web ACLs; a managed rule group is one. */
    webAclRules: Count,
    logRetentionDays: Count,
  }),
  /** A call of each route, by the name of its function; `withKey` with an `Idempotency-Key`. */
  calls: z.record(z.string(), z.strictObject({ withKey: z.optional(Work), withoutKey: z.optional(Work) })),
  /** For each event: its fan-out, and for each delivery that it makes of it. */
  fanOut: z.strictObject({ perBatch: Work, perEvent: Work, perDelivery: Work }),
  dispatchBatch: Work,
  /** A batch of the deliveries' stream with one endpoint in it, and for each endpoint more. */
  watchEndpoint: Work,
  deliveries: z.strictObject({
    succeeded: Delivery,
    retried: Delivery,
    exhausted: Delivery,
    skipped: Delivery,
    timedOut: Delivery,
  }),
  /** A wait that is parked, instead of one that the queue holds. */
  parkedWait: Work,
  publish: Batched,
  meter: Batched,
  /** A run of each scheduled function with nothing to do. */
  idle: z.record(z.string(), Work),
  /** Bytes of items, attribute names included, over those of the body or text that they hold. */
  items: z.strictObject({ event: Count, delivery: Count, message: Count, idempotency: Count, mark: Count }),
  /** Bytes of the body of a message's event: identifiers, and nothing of its text. */
  bodyBytes: Count,
  /** Bytes over the wire of an attempt on a kept connection, over those of its body. */
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

/** The sum of so many of each. */
export const workOf = (...parts: readonly (readonly [times: number, work: Work])[]): Work =>
  Work.parse(
    Object.fromEntries(
      (Object.keys(NO_WORK) as (keyof Work)[]).map((measure) => [
        measure,
        parts.reduce((sum, [times, work]) => sum + times * work[measure], 0),
      ]),
    ),
  );
