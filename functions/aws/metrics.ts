import { telemetry } from './config.ts';
import { BACKLOG_AGE, DELIVERED, METRICS } from './metric-names.ts';

type Unit = 'Count' | 'Seconds' | 'Milliseconds' | 'Percent';

/** Values not published yet, of this and earlier invocations. */
const collected = new Map<string, { unit: Unit; values: number[] }>();
/** Whether a value must be published with this invocation. */
let isUrgent = false;
/** Time of the last publication. Milliseconds since the epoch. */
let publishedAt = Number.NEGATIVE_INFINITY;
/** How long routine values are gathered: less than CloudWatch's period of a minute. Milliseconds. */
const PUBLISH_INTERVAL_MS = 10_000;

/**
 * Values recorded within are routine: they may wait for later invocations, which saves log lines. An idle
 * environment loses its unpublished values, so values that alarms need, or that occur once, must not be
 * routine.
 */
export function publishRegularly(record: () => void): void {
  const before = isUrgent;
  record();
  isUrgent = before;
}

const getValues = (name: string, unit: Unit): number[] => {
  isUrgent = true;
  const known = collected.get(name) ?? { unit, values: [] };
  collected.set(name, known);
  return known.values;
};

/** Counts occurrences. Zero is not recorded. */
export function count(name: string, occurrences = 1): void {
  if (occurrences === 0) return;
  const values = getValues(name, 'Count');
  values[0] = (values[0] ?? 0) + occurrences;
}

/** Records an amount; the maximum counts. Zero is not recorded. */
export function gauge(name: string, value: number, unit: Unit = 'Count'): void {
  // Also skips NaN.
  if (!(value > 0)) return;
  const values = getValues(name, unit);
  values[0] = Math.max(values[0] ?? 0, value);
}

/** Records a value for percentiles. Milliseconds. */
export function sample(name: string, milliseconds: number): void {
  getValues(name, 'Milliseconds').push(milliseconds);
}

/** Most values of a metric in a line. */
const VALUES_IN_LINE = 100;
const { metricsNamespace } = telemetry();

/**
 * Writes the values in CloudWatch's embedded metric format: one log line, without a call; more lines beyond
 * 100 values of a metric. Routine values alone are written every ten seconds.
 */
export function publishMetrics(): void {
  const at = Date.now();
  if (collected.size === 0 || !(isUrgent || at - publishedAt >= PUBLISH_INTERVAL_MS)) return;
  publishedAt = at;
  isUrgent = false;
  const most = Math.max(...[...collected.values()].map(({ values }) => values.length));
  if (metricsNamespace !== undefined)
    for (let first = 0; first < most; first += VALUES_IN_LINE) writeLine(metricsNamespace, at, first);
  collected.clear();
}

/**
 * Source: Amazon CloudWatch, Specification: Embedded metric format.
 * @param first index of each metric's first value in the line
 */
function writeLine(Namespace: string, Timestamp: number, first: number): void {
  const Metrics: { Name: string; Unit: Unit }[] = [];
  const ofName: Record<string, number | number[] | undefined> = {};
  for (const [Name, { unit: Unit, values }] of collected) {
    const some = values.slice(first, first + VALUES_IN_LINE);
    if (some.length === 0) continue;
    Metrics.push({ Name, Unit });
    ofName[Name] = some.length === 1 ? some[0] : some;
  }
  const CloudWatchMetrics = [{ Namespace, Dimensions: [['service']], Metrics }];
  const line = { _aws: { Timestamp, CloudWatchMetrics }, service: METRICS.serviceName, ...ofName };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Measurements of an attempt (`AttemptMetrics`), in milliseconds. */
interface Attempt {
  outcome: string;
  parked: boolean;
  lateMs: number;
  sinceCommitMs?: { first: boolean; begun: number; ended: number };
}

/** An attempt that starts no later than this after its due time is on time. Milliseconds. */
const ON_TIME_MS = 1000;
/** Longer than a batching window: published at once. Milliseconds. */
const TOO_LATE_MS = 30_000;

/** Attempts are routine with any outcome; failed ones are also in the log. */
export const deliveryMetrics = {
  attempt(attempt: Attempt): void {
    if (attempt.lateMs < TOO_LATE_MS) publishRegularly(() => recordAttempt(attempt));
    else recordAttempt(attempt);
  },
  disabled: (): void => count(DELIVERED.disabled),
};

function recordAttempt({ outcome, parked, lateMs, sinceCommitMs }: Attempt): void {
  count(DELIVERED.attempts);
  if (outcome !== 'succeeded') count(DELIVERED.failedAttempts);
  if (parked) count(DELIVERED.parked);
  if (lateMs >= ON_TIME_MS) gauge(BACKLOG_AGE, lateMs / 1000, 'Seconds');
  if (sinceCommitMs === undefined) return;
  if (sinceCommitMs.first) sample(DELIVERED.attemptLatency, sinceCommitMs.begun);
  if (outcome === 'succeeded') sample(DELIVERED.receiptLatency, sinceCommitMs.ended);
}
