import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { type AlarmProps, alarmAt, alarmBelow } from './alarms.ts';
import type { ServiceFunction } from './service-function.ts';
import { ServiceStack } from './stacks/service-stack.ts';

/* Standard alarms of functions, schedules and dead letters. */

type Told = Pick<AlarmProps, 'says' | 'runbook'>;

/** Lambda and SQS retry failed invocations; a few within 15 minutes are no accident. */
const FAILURES = 3;

/** Fires when the function fails. */
export const watchFailures = (fn: lambda.Function, told: Told): cloudwatch.Alarm | undefined =>
  alarmAt(fn, 'Fails', {
    ...told,
    metric: fn.metricErrors({ statistic: cloudwatch.Stats.SUM, period: Duration.minutes(15) }),
    threshold: FAILURES,
  });

/**
 * Fires when the worker fails or leaves messages in its queue, which Lambda does not count as an error.
 * @param left metric of batches with messages left
 */
export const watchLeftMessages = (
  fn: lambda.Function,
  { left, ...told }: Told & { left: cloudwatch.Metric },
): cloudwatch.Alarm | undefined => {
  const over = { statistic: cloudwatch.Stats.SUM, period: Duration.minutes(15) };
  return alarmAt(fn, 'Fails', {
    ...told,
    metric: new cloudwatch.MathExpression({
      label: 'failed batches',
      expression: 'SUM([errors, left])',
      usingMetrics: { errors: fn.metricErrors(over), left: left.with(over) },
      period: over.period,
    }),
    threshold: FAILURES,
  });
};

/**
 * Fires within minutes when 1 % of invocations fail. For functions with so many invocations that a few
 * failures are normal.
 */
export const watchFailureRate = (fn: lambda.Function, told: Told): cloudwatch.Alarm | undefined => {
  const over = { statistic: cloudwatch.Stats.SUM, period: Duration.minutes(1) };
  return alarmAt(fn, 'Fails', {
    ...told,
    metric: percentOf(fn.metricErrors(over), fn.metricInvocations(over), FAILURES),
    threshold: 1,
    periods: 2,
  });
};

/** @param least below this count the result is 0 */
export const percentOf = (
  part: cloudwatch.IMetric,
  whole: cloudwatch.IMetric,
  least: number,
): cloudwatch.MathExpression =>
  new cloudwatch.MathExpression({
    label: 'percent',
    expression: `IF(part >= ${least}, 100 * part / whole, 0)`,
    usingMetrics: { part, whole },
    period: Duration.minutes(1),
  });

/**
 * Fires when a stream's reader lags. A stream keeps records for one day.
 * @param seconds of lag, for as many minutes
 */
export const watchBehind = (
  fn: lambda.Function,
  { seconds, minutes, ...told }: Told & { seconds: number; minutes: number },
): cloudwatch.Alarm | undefined =>
  alarmAt(fn, 'Behind', {
    ...told,
    metric: fn.metric('IteratorAge', {
      statistic: cloudwatch.Stats.MAXIMUM,
      period: Duration.minutes(1),
    }),
    threshold: seconds * 1000,
    periods: minutes,
  });

/**
 * Invokes a function each minute, or at another rate, with alarms on its failures and on missed runs, which
 * the function cannot detect. A stage of low cost invokes it every five minutes at most.
 */
export function schedule(
  fn: ServiceFunction,
  { every, fails, silent }: { every?: Duration; fails: Told; silent: string },
): void {
  const rate = every ?? Duration.minutes(ServiceStack.of(fn).policy.lowCost ? 5 : 1);
  new events.Rule(fn.node.scope ?? fn, `${fn.node.id}Schedule`, {
    schedule: events.Schedule.rate(rate),
    // The next minute's run replaces a failed one.
    targets: [new LambdaFunction(fn, every === undefined ? { retryAttempts: 0 } : {})],
  });
  watchFailures(fn, fails);
  alarmBelow(fn, 'Silent', {
    says: silent,
    runbook: 'backlog.md#a-schedule-is-silent',
    metric: fn.metricInvocations({ statistic: cloudwatch.Stats.SUM, period: rate }),
    periods: SILENT,
  });
}
/** Tolerates a late invocation or metric. */
const SILENT = 3;

/** Fires on dead letters that only an operator can process. */
export const watchDeadLetters = (
  scope: Construct,
  id: string,
  queue: sqs.IQueue,
  told: Told,
): cloudwatch.Alarm | undefined =>
  alarmAt(scope, id, {
    ...told,
    metric: queue.metricApproximateNumberOfMessagesVisible({
      statistic: cloudwatch.Stats.MAXIMUM,
      period: Duration.minutes(5),
    }),
  });

/** Fires on failed work that a function retries, once it has failed for some minutes. */
export const watchRetried = (
  scope: Construct,
  id: string,
  queue: sqs.IQueue,
  told: Told,
): cloudwatch.Alarm | undefined =>
  alarmAt(scope, id, {
    ...told,
    // Between its retries a message is hidden.
    metric: queue.metricApproximateNumberOfMessagesNotVisible({
      statistic: cloudwatch.Stats.MAXIMUM,
      period: Duration.minutes(5),
    }),
    periods: 3,
  });
