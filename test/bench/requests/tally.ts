/** The work of functions in some time. */
export interface Tally {
  invocations: number;
  /** Records of the events that invoked them. */
  records: number;
  /** CPU of their processes while they were invoked. */
  cpuMs: number;
  reads: number;
  writes: number;
  /** Requests to SQS, and messages sent. */
  sqsRequests: number;
  messages: number;
  busEntries: number;
  secretReads: number;
  directoryReads: number;
  mails: number;
  /** Requests to AWS, all services. */
  requests: number;
  logLines: number;
  logBytes: number;
}

export const NOTHING: Readonly<Tally> = {
  invocations: 0,
  records: 0,
  cpuMs: 0,
  reads: 0,
  writes: 0,
  sqsRequests: 0,
  messages: 0,
  busEntries: 0,
  secretReads: 0,
  directoryReads: 0,
  mails: 0,
  requests: 0,
  logLines: 0,
  logBytes: 0,
};

const MEASURES = Object.keys(NOTHING) as (keyof Tally)[];

/** Subtracts each measure. */
const combined = (a: Tally, b: Tally, by: (a: number, b: number) => number): Tally =>
  Object.fromEntries(MEASURES.map((measure) => [measure, by(a[measure], b[measure])])) as Record<
    keyof Tally,
    number
  >;

export const plus = (a: Tally, b: Tally): Tally => combined(a, b, (x, y) => x + y);
export const minus = (a: Tally, b: Tally): Tally => combined(a, b, (x, y) => x - y);
export const times = (a: Tally, factor: number): Tally => combined(a, a, (x) => x * factor);

/** The work of functions, by name. */
export type Tallies = Readonly<Record<string, Tally>>;

export const ofFunction = (tallies: Tallies, name: string): Tally => tallies[name] ?? NOTHING;
