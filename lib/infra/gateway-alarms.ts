import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { alarmAt } from './alarms.ts';
import type { Api } from './api.ts';
import { percentOf } from './watching.ts';

/** With fewer failures per minute the rate is not significant. */
const LEAST_FAILURES = 5;
/** Warm calls take about 40 ms, cold ones less than a second. */
const SLOW_MS = 3000;

/** Alarms on what callers of the API see, and so on every function behind a route. */
export function watchApi(api: Api): cloudwatch.Alarm[] {
  const { deploymentStage: stage } = api.rest;
  const over = { statistic: cloudwatch.Stats.SUM, period: Duration.minutes(1) };
  const failing = alarmAt(api, 'RequestsFail', {
    metric: percentOf(stage.metricServerError(over), stage.metricCount(over), LEAST_FAILURES),
    threshold: 1,
    periods: 3,
    says: 'One API call in a hundred or more is answered with a 5xx status.',
    runbook: 'api.md#requests-fail',
  });
  const slow = alarmAt(api, 'RequestsSlow', {
    metric: stage.metricLatency({ statistic: cloudwatch.Stats.p(99), period: Duration.minutes(5) }),
    threshold: SLOW_MS,
    periods: 2,
    says: 'One API call in a hundred takes three seconds or more.',
    runbook: 'api.md#requests-are-slow',
  });
  return [failing, slow].filter((alarm) => alarm !== undefined);
}
