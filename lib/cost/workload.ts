/** Work of a month. */
export interface Workload {
  deliveries: number;
  /** Messages recorded over the API, each with an `Idempotency-Key` and its own event. */
  messages: number;
  /** Read calls. */
  reads: number;
  endpoints: number;
  organizations: number;
  /** Probability that an attempt fails at once. */
  failureRate: number;
  /** Share of the deliveries whose receiver does not respond to any of eight attempts. */
  hangingRate: number;
  /** Share of the deliveries that go to endpoints with `maxPerSecond`. */
  limitedRate: number;
  /** Share of these that wait in a queue for their turn. */
  waitingRate: number;
  /** Share of these whose turn is more than five minutes ahead: they wait in the table. */
  parkedRate: number;
  /** Bytes of a delivered body. */
  bodySize: number;
  /** Bytes of a message's text, which no body contains. */
  textSize: number;
  /** Days for which conversations are kept; the service deletes none. */
  retentionDays: number;
  /** Response time of a working receiver in milliseconds. */
  receiverLatencyMs: number;
  /** Hours of the month over which the work is spread evenly. */
  busyHours: number;
  /** Attempts per dispatcher invocation; derived from the rate by default. */
  batch?: number;
}

export const HOURS_A_MONTH = 730;
/** Maximum attempts of a delivery (docs/specification.md, Retries). */
export const MAX_ATTEMPTS = 8;

/** Default workload. */
export const STANDARD = {
  reads: 0,
  endpoints: 1,
  failureRate: 0,
  hangingRate: 0,
  limitedRate: 0,
  waitingRate: 0,
  parkedRate: 0,
  textSize: 200,
  retentionDays: 30,
  receiverLatencyMs: 200,
  busyHours: HOURS_A_MONTH / 3,
} as const satisfies Partial<Workload>;
