import { ArnFormat, Aws, Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { METRICS } from '../../functions/aws/metrics.ts';
import type { Settings } from './settings.ts';
import { ServiceStack } from './stacks/service-stack.ts';

/** Namespace of a stage's metrics, which separates stages in one account. */
export const metricsNamespace = (scope: Construct): string =>
  `${METRICS.namespace}/${ServiceStack.of(scope).policy.stage}`;

/** A metric of the functions, summed over five minutes. */
export const counted = (scope: Construct, metricName: string): cloudwatch.Metric =>
  new cloudwatch.Metric({
    namespace: metricsNamespace(scope),
    dimensionsMap: { service: METRICS.serviceName },
    metricName,
    statistic: cloudwatch.Stats.SUM,
    period: Duration.minutes(5),
  });

/** The SNS topic of all alarms, to which operators subscribe. */
export class AlarmTopic extends Construct {
  readonly topic: sns.Topic;

  constructor(
    scope: Construct,
    id: string,
    key: kms.IKey | undefined,
    { alarmEmail }: Pick<Settings, 'alarmEmail'>,
  ) {
    super(scope, id);
    this.topic = new sns.Topic(this, 'Topic', {
      displayName: `Conversation Service, ${ServiceStack.of(this).policy.stage}`,
      ...(key && { masterKey: key }),
      enforceSSL: true,
    });
    // `enforceSSL` replaces the default topic policy, which lets CloudWatch publish.
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: {
          ArnLike: {
            'aws:SourceArn': Stack.of(this).formatArn({
              service: 'cloudwatch',
              resource: 'alarm',
              resourceName: '*',
              arnFormat: ArnFormat.COLON_RESOURCE_NAME,
            }),
          },
          StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID },
        },
      }),
    );
    if (alarmEmail !== undefined) this.topic.addSubscription(new EmailSubscription(alarmEmail));
  }
}

/** A section of a page of docs/runbooks, by its heading's anchor. */
type Runbook = `${string}.md#${string}`;

export interface AlarmProps {
  metric: cloudwatch.IMetric;
  threshold?: number;
  /** Consecutive periods of the metric. */
  periods?: number;
  /** Symptom for customers or operators. */
  says: string;
  runbook: Runbook;
}

/** An alarm whose description has the symptom and a link to the runbook, in a stage with alarms. */
export const alarmAt = (scope: Construct, id: string, props: AlarmProps): cloudwatch.Alarm | undefined =>
  alarm(scope, id, props, {
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
  });

/**
 * An alarm for what should never stop. Without data its state is INSUFFICIENT_DATA, which is reported like an
 * alarm. A new alarm starts in that state without reporting it, so a first deployment stays quiet until the
 * function's first invocation.
 */
export function alarmBelow(scope: Construct, id: string, props: AlarmProps): void {
  const made = alarm(scope, id, props, {
    comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
    treatMissingData: cloudwatch.TreatMissingData.MISSING,
  });
  const { alarmTopic } = ServiceStack.of(scope).common;
  if (alarmTopic) made?.addInsufficientDataAction(new SnsAction(alarmTopic));
}

function alarm(
  scope: Construct,
  id: string,
  { metric, threshold = 1, periods = 1, says, runbook }: AlarmProps,
  how: Pick<cloudwatch.AlarmProps, 'comparisonOperator' | 'treatMissingData'>,
): cloudwatch.Alarm | undefined {
  const { alarmTopic, runbooks } = ServiceStack.of(scope).common;
  if (alarmTopic === undefined) return undefined;
  const made = new cloudwatch.Alarm(scope, id, {
    ...how,
    alarmDescription: `${says} ${runbooks}/${runbook}`,
    metric,
    threshold,
    evaluationPeriods: periods,
  });
  made.addAlarmAction(new SnsAction(alarmTopic));
  made.addOkAction(new SnsAction(alarmTopic));
  return made;
}
