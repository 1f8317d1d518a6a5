import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { METRICS } from '../../functions/platform/metric-names.ts';
import type { Settings } from './settings.ts';
import { ServiceStack } from './stacks/service-stack.ts';

/** A metric that the functions write, summed over five minutes. */
export const counted = (metricName: string): cloudwatch.Metric =>
  new cloudwatch.Metric({
    namespace: METRICS.namespace,
    dimensionsMap: { service: METRICS.serviceName },
    metricName,
    statistic: cloudwatch.Stats.SUM,
    period: Duration.minutes(5),
  });

/** Whom alarms tell: a topic, to which whoever is on call subscribes. */
export class AlarmTopic extends Construct {
  readonly topic: sns.Topic;

  constructor(scope: Construct, id: string, key: kms.IKey, { alarmEmail }: Pick<Settings, 'alarmEmail'>) {
    super(scope, id);
    this.topic = new sns.Topic(this, 'Topic', {
      displayName: `Conversation Service, ${ServiceStack.of(this).policy.stage}`,
      masterKey: key,
      enforceSSL: true,
    });
    if (alarmEmail !== undefined) this.topic.addSubscription(new EmailSubscription(alarmEmail));
  }
}

/** An alarm for what should never, or hardly ever, be so. The description says what somebody notices. */
export function alarmAt(
  scope: Construct,
  id: string,
  { metric, threshold = 1, says }: { metric: cloudwatch.IMetric; threshold?: number; says: string },
): cloudwatch.Alarm {
  const { policy, common } = ServiceStack.of(scope);
  const alarm = new cloudwatch.Alarm(scope, id, {
    alarmDescription: says,
    metric,
    threshold,
    evaluationPeriods: 1,
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
    actionsEnabled: policy.alarms,
  });
  alarm.addAlarmAction(new SnsAction(common.alarmTopic));
  alarm.addOkAction(new SnsAction(common.alarmTopic));
  return alarm;
}
