import { Metrics } from '@aws-lambda-powertools/metrics';
import { METRICS } from './metric-names.ts';

const metrics = new Metrics(METRICS);

/** Counts one occurrence, in CloudWatch's embedded metric format: a log line, no call. */
export function countOne(name: string): void {
  metrics.singleMetric().addMetric(name, 'Count', 1);
}

/** States a number of things, or of seconds. */
export function gauge(name: string, value: number, unit: 'Count' | 'Seconds' = 'Count'): void {
  metrics.singleMetric().addMetric(name, unit, value);
}
