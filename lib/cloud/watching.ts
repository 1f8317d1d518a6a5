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

/**
 * Failed invocations are repeated by whatever made them; a few within a quarter of an hour are no accident.
 */
const FAILURES = 3;

/** Tells somebody that a function fails. */
export const watchFailures = (fn: lambda.Function, told: Told): cloudwatch.Alarm =>
  alarmAt(fn, 'Fails', {
    ...told,
    metric: fn.metricErrors({ statistic: cloudwatch.Stats.SUM, period: Duration.minutes(15) }),
    threshold: FAILURES,
  });

/**
 * Tells somebody that a worker fails, be it that it leaves messages in its queue, which to Lambda is no
 * error.
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
 * Tells somebody that one invocation in a hundred fails, within minutes: of a function with so many that a
 * few failures say nothing.
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

/** @param least fewer of the part are nothing, whatever their share */
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
 * Tells somebody that a stream's reader is behind. A stream forgets after a day. @param seconds behind, for
 * as many minutes
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

/**
 * Tells somebody that a schedule does not come round: nobody but its function would notice, and that is not
 * invoked.
 */
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

/** Tells somebody of dead letters that nothing but a person deals with. */
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

/** Tells somebody of dead letters that a function takes at once, so that their number hardly ever shows. */
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
