import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { type AlarmProps, alarmAt, alarmBelow } from './alarms.ts';

/*
 * How functions, their schedules and dead letters are watched, each alike.
 */

type Told = Pick<AlarmProps, 'says' | 'runbook'>;

/** Lambda and SQS repeat failed invocations; a few within a quarter of an hour are no accident. */
const FAILURES = 3;

/** An alarm: the function fails. */
export const watchFailures = (fn: lambda.Function, told: Told): cloudwatch.Alarm =>
  alarmAt(fn, 'Fails', {
    ...told,
    metric: fn.metricErrors({ statistic: cloudwatch.Stats.SUM, period: Duration.minutes(15) }),
    threshold: FAILURES,
  });

/**
 * An alarm: the worker fails, also when it only leaves messages in its queue, which is no error to Lambda.
 * @param left of the batches of which it left some
 */
export const watchLeftMessages = (
  fn: lambda.Function,
  { left, ...told }: Told & { left: cloudwatch.Metric },
): cloudwatch.Alarm => {
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
 * An alarm: one invocation in a hundred fails, within minutes. For functions with so many that a few failures
 * are normal.
 */
export const watchFailureRate = (fn: lambda.Function, told: Told): cloudwatch.Alarm => {
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
 * An alarm: a stream's reader lags. A stream keeps records for one day.
 * @param seconds of lag, for as many minutes
 */
export const watchBehind = (
  fn: lambda.Function,
  { seconds, minutes, ...told }: Told & { seconds: number; minutes: number },
): cloudwatch.Alarm =>
  alarmAt(fn, 'Behind', {
    ...told,
    metric: fn.metric('IteratorAge', {
      statistic: cloudwatch.Stats.MAXIMUM,
      period: Duration.minutes(1),
    }),
    threshold: seconds * 1000,
    periods: minutes,
  });

/** An alarm: a schedule does not run. Its function would notice, but is not invoked. */
export const watchSchedule = (
  fn: lambda.Function,
  { every, ...told }: Told & { every: Duration },
): cloudwatch.Alarm =>
  alarmBelow(fn, 'Silent', {
    ...told,
    metric: fn.metricInvocations({ statistic: cloudwatch.Stats.SUM, period: every }),
    periods: SILENT,
  });
/** An invocation may come a little late, or a metric. */
const SILENT = 3;

/** An alarm: there are dead letters that only a person can process. */
export const watchDeadLetters = (
  scope: Construct,
  id: string,
  queue: sqs.IQueue,
  told: Told,
): cloudwatch.Alarm =>
  alarmAt(scope, id, {
    ...told,
    metric: queue.metricApproximateNumberOfMessagesVisible({
      statistic: cloudwatch.Stats.MAXIMUM,
      period: Duration.minutes(5),
    }),
  });

/** An alarm: dead letters arrived that a function takes at once, so that their number hardly ever shows. */
export const watchArrivals = (
  scope: Construct,
  id: string,
  queue: sqs.IQueue,
  told: Told,
): cloudwatch.Alarm =>
  alarmAt(scope, id, {
    ...told,
    metric: queue.metricNumberOfMessagesSent({
      statistic: cloudwatch.Stats.SUM,
      period: Duration.minutes(1),
    }),
  });
