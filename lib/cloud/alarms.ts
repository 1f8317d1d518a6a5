import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { METRICS } from '../../functions/platform/metric-names.ts';

/** A metric that the functions write, summed over five minutes. */
export const counted = (metricName: string): cloudwatch.Metric =>
  new cloudwatch.Metric({
    namespace: METRICS.namespace,
    dimensionsMap: { service: METRICS.serviceName },
    metricName,
    statistic: cloudwatch.Stats.SUM,
    period: Duration.minutes(5),
  });

/** An alarm for what should never, or hardly ever, be so. The description says what somebody notices. */
export function alarmAt(
  scope: Construct,
  id: string,
  { metric, threshold = 1, says }: { metric: cloudwatch.IMetric; threshold?: number; says: string },
): void {
  new cloudwatch.Alarm(scope, id, {
    alarmDescription: says,
    metric,
    threshold,
    evaluationPeriods: 1,
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
  });
}
