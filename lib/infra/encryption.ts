import { Aws } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import { rolePath, ServiceStack } from './stacks/service-stack.ts';

/** Actions of a client that writes and reads data which another service encrypts with the key. */
const USE = ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'];
/** Actions of a service that encrypts for itself. */
const SERVICE_USE = ['kms:Decrypt', 'kms:GenerateDataKey*'];

/**
 * Encryption keys of all stored data. Only the key policy grants their use: to the service's own roles, by
 * path, and through the services that hold the data (`kms:ViaService`). Permissions on tables elsewhere in
 * the account cannot decrypt these.
 */
export class Keys extends Construct {
  /** For tables and keyrings. */
  readonly data: kms.Key;
  /** For queues, the bus and the alarm topic. */
  readonly messages: kms.Key;
  /** For logs: their readers need no access to data. */
  readonly logs: kms.Key;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.data = this.key('Data', 'Tables and keyrings of the Conversation Service API');
    this.data.addToResourcePolicy(this.byOurRoles('dynamodb', 'secretsmanager'));

    this.messages = this.key('Messages', 'Queues, bus and alarms of the Conversation Service API');
    this.messages.addToResourcePolicy(this.byOurRoles('sqs', 'events'));
    this.messages.addToResourcePolicy(
      byServices(['events.amazonaws.com', 'cloudwatch.amazonaws.com'], {
        StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID },
      }),
    );
    // EventBridge describes the key when the bus is created (User Guide, Authorizing EventBridge to use a
    // customer managed key).
    this.messages.addToResourcePolicy(
      new iam.PolicyStatement({
        principals: [new iam.ServicePrincipal('events.amazonaws.com')],
        actions: ['kms:DescribeKey'],
        resources: ['*'],
      }),
    );

    this.logs = this.key('Logs', 'Logs of the Conversation Service API');
    this.logs.addToResourcePolicy(
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
    );
  }

  private key(id: string, description: string): kms.Key {
    const { policy } = ServiceStack.of(this);
    return new kms.Key(this, id, {
      description: `${description}, ${policy.stage}`,
      enableKeyRotation: true,
      removalPolicy: ServiceStack.of(this).removal,
      alias: `alias/conversation-service/${policy.stage}/${id.toLowerCase()}`,
    });
  }

  private byOurRoles(...services: string[]): iam.PolicyStatement {
    const { stage } = ServiceStack.of(this).policy;
    return new iam.PolicyStatement({
      principals: [new iam.AnyPrincipal()],
      actions: USE,
      resources: ['*'],
      conditions: {
        StringEquals: {
          'kms:CallerAccount': Aws.ACCOUNT_ID,
          'kms:ViaService': services.map((service) => `${service}.${Aws.REGION}.amazonaws.com`),
        },
        ArnLike: {
          'aws:PrincipalArn': `arn:${Aws.PARTITION}:iam::${Aws.ACCOUNT_ID}:role${rolePath(stage)}*`,
        },
      },
    });
  }
}

const byServices = (names: readonly string[], conditions: Record<string, unknown>): iam.PolicyStatement =>
  new iam.PolicyStatement({
    principals: names.map((name) => new iam.ServicePrincipal(name)),
    actions: SERVICE_USE,
    resources: ['*'],
    conditions,
  });
