import { Metrics } from '@aws-lambda-powertools/metrics';
import { BACKLOG_AGE, DELIVERED, METRICS } from './metric-names.ts';

type Unit = 'Count' | 'Seconds' | 'Milliseconds' | 'Percent';

/**
 * What the invocation under way has to tell, and what those before it have left; an execution environment has
 * one at a time.
 */
const collected = new Map<string, { unit: Unit; values: number[] }>();
/** Whether any of it has to be told with this invocation. */
let isUrgent = false;
/** When something was told last. Milliseconds since the epoch. */
let toldAt = Number.NEGATIVE_INFINITY;
/** For how long what is routine is gathered: well within the minute that CloudWatch sums up. Milliseconds. */
const GATHERED_MS = 10_000;

/**
 * What is told within is routine: it may wait for that of later invocations, which saves a line for each. An
 * environment that is not invoked again takes with it what it still had, so nothing that an alarm waits for,
 * and nothing that happens once, may be routine.
 */
export function publishRegularly(tell: () => void): void {
  const before = isUrgent;
  tell();
  isUrgent = before;
}

const getValues = (name: string, unit: Unit): number[] => {
  isUrgent = true;
  const known = collected.get(name) ?? { unit, values: [] };
  collected.set(name, known);
  return known.values;
};

/** Counts occurrences; nothing is said of none. */
export function count(name: string, occurrences = 1): void {
  if (occurrences === 0) return;
  const values = getValues(name, 'Count');
  values[0] = (values[0] ?? 0) + occurrences;
}

/**
 * States how much of something there is; of several statements the highest counts. Nothing is said of none.
 */
export function gauge(name: string, value: number, unit: Unit = 'Count'): void {
  // Nor of what is not known.
  if (!(value > 0)) return;
  const values = getValues(name, unit);
  values[0] = Math.max(values[0] ?? 0, value);
}

/** Adds a value to those of which CloudWatch makes percentiles. Milliseconds. */
export function sample(name: string, milliseconds: number): void {
  getValues(name, 'Milliseconds').push(milliseconds);
}

/** The namespace is in POWERTOOLS_METRICS_NAMESPACE. */
const metrics = new Metrics({ serviceName: METRICS.serviceName });

/**
 * Writes what the invocation has to tell in CloudWatch's embedded metric format: one log line, no call, and
 * nothing when nothing happened. Beyond a hundred values of one metric it is as many lines as it takes. Where
 * all of it is routine it is written once in ten seconds.
 */
export function publishMetrics(): void {
  const at = Date.now();
  if (collected.size === 0 || !(isUrgent || at - toldAt >= GATHERED_MS)) return;
  toldAt = at;
  isUrgent = false;
  for (const [name, { unit, values }] of collected)
    for (const value of values) metrics.addMetric(name, unit, value);
  collected.clear();
  if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
}

/** What the dispatcher measures of an attempt (`AttemptMetrics`), in milliseconds. */
interface Attempt {
  outcome: string;
  parked: boolean;
  lateMs: number;
  sinceCommitMs?: { first: boolean; begun: number; ended: number };
}

/** An attempt that begins no later than this after it was due is on time, and no backlog. Milliseconds. */
const ON_TIME_MS = 1000;
/** Later than messages wait for company: something is wrong, and is told at once. Milliseconds. */
const TOO_LATE_MS = 30_000;

/**
 * The dispatcher's measures as metrics. Attempts are routine, whatever comes of them; a failed one is also in
 * the log.
 */
export const deliveryMetrics = {
  attempt(attempt: Attempt): void {
    if (attempt.lateMs < TOO_LATE_MS) publishRegularly(() => tell(attempt));
    else tell(attempt);
  },
  disabled: (): void => count(DELIVERED.disabled),
};

function tell({ outcome, parked, lateMs, sinceCommitMs }: Attempt): void {
  count(DELIVERED.attempts);
  if (outcome !== 'succeeded') count(DELIVERED.failedAttempts);
  if (parked) count(DELIVERED.parked);
  if (lateMs >= ON_TIME_MS) gauge(BACKLOG_AGE, lateMs / 1000, 'Seconds');
  if (sinceCommitMs === undefined) return;
  if (sinceCommitMs.first) sample(DELIVERED.attemptLatency, sinceCommitMs.begun);
  if (outcome === 'succeeded') sample(DELIVERED.receiptLatency, sinceCommitMs.ended);
}
