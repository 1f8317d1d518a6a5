import { Aws } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { rolePath, ServiceStack } from './stacks/service-stack.ts';

/** Actions of a client that writes and reads data which another service encrypts with the key. */
const USE = ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'];
/** Actions of a service that encrypts for itself. */
const SERVICE_USE = ['kms:Decrypt', 'kms:GenerateDataKey*'];
/** Services that hold data which is encrypted with the key. */
const HOLDERS = ['dynamodb', 'secretsmanager', 'sqs', 'events', 'lambda'];

/**
 * The key of all data of a stage: one of its own, the customer's, or none where AWS's own keys do. Only the
 * key's policy grants its use, so permissions on tables elsewhere in the account cannot decrypt these.
 * @param arn of a key of the customer, whose policy has the statements below (docs/guides/deploy.md)
 */
export function encryptionKey(scope: Construct, id: string, arn: string | undefined): kms.IKey | undefined {
  const { policy, removal } = ServiceStack.of(scope);
  if (arn !== undefined) return kms.Key.fromKeyArn(scope, id, arn);
  if (policy.lowCost) return undefined;
  const key = new kms.Key(scope, id, {
    description: `Data of the Conversation Service API, ${policy.stage}`,
    enableKeyRotation: true,
    removalPolicy: removal,
    alias: `alias/conversation-service/${policy.stage}`,
  });
  for (const statement of keyStatements(policy.stage)) key.addToResourcePolicy(statement);
  return key;
}

/** What a key's policy must allow, besides its administration by IAM policies of the account. */
const keyStatements = (stage: string): iam.PolicyStatement[] => [
  // The service's own roles, by path, and only through the services that hold the data.
  new iam.PolicyStatement({
    principals: [new iam.AnyPrincipal()],
    actions: USE,
    resources: ['*'],
    conditions: {
      StringEquals: { 'kms:CallerAccount': Aws.ACCOUNT_ID },
      // In the partition of China the names may end with `.cn`.
      StringLike: { 'kms:ViaService': HOLDERS.map((service) => `${service}.${Aws.REGION}.amazonaws.com*`) },
      ArnLike: {
        'aws:PrincipalArn': `arn:${Aws.PARTITION}:iam::${Aws.ACCOUNT_ID}:role${rolePath(stage)}*`,
      },
    },
  }),
  new iam.PolicyStatement({
    principals: ['events', 'cloudwatch'].map((name) => new iam.ServicePrincipal(`${name}.amazonaws.com`)),
    actions: SERVICE_USE,
    resources: ['*'],
    conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
  }),
  // EventBridge describes the key when the bus is created (User Guide, Authorizing EventBridge to use a
  // customer managed key).
  new iam.PolicyStatement({
    principals: [new iam.ServicePrincipal('events.amazonaws.com')],
    actions: ['kms:DescribeKey'],
    resources: ['*'],
  }),
  // For logs CloudWatch Logs alone uses the key: their readers need no access to it.
  new iam.PolicyStatement({
    principals: [new iam.ServicePrincipal(`logs.${Aws.REGION}.amazonaws.com`)],
    actions: USE,
    resources: ['*'],
    conditions: {
      ArnLike: {
        'kms:EncryptionContext:aws:logs:arn': `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:log-group:*`,
      },
    },
  }),
];
