/** What a month holds. */
export interface Workload {
  /** Deliveries that begin in it. */
  deliveries: number;
  /** Messages recorded over the API, each with an `Idempotency-Key` and an event of its own. */
  messages: number;
  /** Calls that read. */
  reads: number;
  endpoints: number;
  organizations: number;
  /** Probability that an attempt fails with an answer or an error that comes at once. */
  failureRate: number;
  /** Share of the deliveries whose receiver answers nothing until the deadline, eight times. */
  hangingRate: number;
  /** Bytes of a delivered body. */
  bodySize: number;
  /** Bytes of a message's text, which no body has. */
  textSize: number;
  /** Days for which conversations are kept; the service deletes none. */
  retentionDays: number;
  /** Milliseconds until a receiver that works answers. */
  receiverLatencyMs: number;
  /** Hours of the month over which it is spread evenly. */
  busyHours: number;
  /** Attempts of one dispatcher invocation; from the rate where it is not given. */
  batch?: number;
}

export const HOURS_A_MONTH = 730;
/** Most attempts of a delivery (docs/specification.md, Retries). */
export const MAX_ATTEMPTS = 8;

/** What a workload is where nothing else is said of it. */
export const STANDARD = {
  reads: 0,
  endpoints: 1,
  failureRate: 0,
  hangingRate: 0,
  textSize: 200,
  retentionDays: 30,
  receiverLatencyMs: 200,
  busyHours: HOURS_A_MONTH / 3,
} as const satisfies Partial<Workload>;
