import { RemovalPolicy } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as codedeploy from 'aws-cdk-lib/aws-codedeploy';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { acknowledge } from './acknowledgements.ts';
import type { ServiceFunction } from './service-function.ts';
import { ServiceStack } from './stacks/service-stack.ts';
import type { Release } from './stages.ts';

/** Alias that event sources invoke and that gradually moves to new code. */
export function live(fn: ServiceFunction): lambda.Alias {
  const version = fn.currentVersion;
  // A rollback needs the alias's previous version.
  if (ServiceStack.of(fn).policy.release !== 'at-once') version.applyRemovalPolicy(RemovalPolicy.RETAIN);
  return new lambda.Alias(fn, 'Live', { aliasName: 'live', version });
}

/**
 * The newest code at once, for an event source that the previous version does not support and whose failures
 * would count against the release. From the next release on, the live alias can have the source.
 */
export const newest = (fn: ServiceFunction): lambda.Alias =>
  new lambda.Alias(fn, 'Newest', { aliasName: 'newest', version: fn.currentVersion });

const { LambdaDeploymentConfig } = codedeploy;
const CONFIGS: Readonly<Record<Exclude<Release, 'at-once'>, codedeploy.ILambdaDeploymentConfig>> = {
  canary: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
  linear: LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_3MINUTES,
};

/**
 * Makes CodeDeploy move an alias by the stage's policy, and back when an alarm fires. While one is already
 * firing, nothing is deployed unless the operator overrides it.
 */
export function releaseGradually(
  alias: lambda.Alias,
  alarms: readonly (cloudwatch.IAlarm | undefined)[],
): void {
  const { release, rollsBack } = ServiceStack.of(alias).policy;
  if (release === 'at-once') return;
  const group = new codedeploy.LambdaDeploymentGroup(alias, 'Release', {
    alias,
    deploymentConfig: rollsBack ? CONFIGS[release] : LambdaDeploymentConfig.ALL_AT_ONCE,
    alarms: alarms.filter((alarm) => alarm !== undefined),
    ignoreAlarmConfiguration: !rollsBack,
    autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: rollsBack },
  });
  acknowledge(group, {
    'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]':
      'The role of CodeDeploy, for which AWS gives this policy: it moves aliases and reads alarms.',
  });
}
