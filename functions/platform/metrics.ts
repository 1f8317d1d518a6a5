import type { Metrics } from '@aws-lambda-powertools/metrics';
import { METRICS } from './metric-names.ts';

type Unit = 'Count' | 'Seconds' | 'Milliseconds' | 'Percent';

/** What the invocation under way has to tell; an execution environment has one at a time. */
const collected = new Map<string, { unit: Unit; values: number[] }>();

const valuesOf = (name: string, unit: Unit): number[] => {
  const known = collected.get(name) ?? { unit, values: [] };
  collected.set(name, known);
  return known.values;
};

/** Counts occurrences; nothing is said of none. */
export function count(name: string, occurrences = 1): void {
  if (occurrences === 0) return;
  const values = valuesOf(name, 'Count');
  values[0] = (values[0] ?? 0) + occurrences;
}

/** States how much of something there is; of several statements of an invocation the highest counts. Nothing is said of none. */
export function gauge(name: string, value: number, unit: Unit = 'Count'): void {
  // Nor of what is not known.
  if (!(value > 0)) return;
  const values = valuesOf(name, unit);
  values[0] = Math.max(values[0] ?? 0, value);
}

/** Adds a value to those of which CloudWatch makes percentiles. Milliseconds. */
export function sample(name: string, milliseconds: number): void {
  valuesOf(name, 'Milliseconds').push(milliseconds);
}

let printer: Promise<Metrics> | undefined;
/** Loaded when there is something to tell, which an API request hardly ever has. The namespace is in POWERTOOLS_METRICS_NAMESPACE. */
const loaded = (): Promise<Metrics> => {
  printer ??= import('@aws-lambda-powertools/metrics').then(
    ({ Metrics }) => new Metrics({ serviceName: METRICS.serviceName }),
  );
  return printer;
};

/**
 * Writes what the invocation has to tell in CloudWatch's embedded metric format: one log line, no call, and nothing when nothing happened.
 * Beyond a hundred values of one metric it is as many lines as it takes.
 */
export async function publishMetrics(): Promise<void> {
  if (collected.size === 0) return;
  const metrics = await loaded();
  for (const [name, { unit, values }] of collected)
    for (const value of values) metrics.addMetric(name, unit, value);
  collected.clear();
  if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
}
