import { App, CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AttributeType, BillingMode, StreamViewType, Table } from 'aws-cdk-lib/aws-dynamodb';
import {
  FilterCriteria,
  FilterRule,
  FunctionUrlAuthType,
  Runtime,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import { DynamoEventSource, SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Queue } from 'aws-cdk-lib/aws-sqs';

const stack = new Stack(new App(), 'WebhookReceiver');

const inbox = new Table(stack, 'Inbox', {
  partitionKey: { name: 'id', type: AttributeType.STRING },
  billingMode: BillingMode.PAY_PER_REQUEST,
  timeToLiveAttribute: 'expiresAt',
  stream: StreamViewType.NEW_IMAGE,
  removalPolicy: RemovalPolicy.DESTROY,
});

const settings = {
  runtime: Runtime.NODEJS_24_X,
  memorySize: 512,
  bundling: { format: OutputFormat.ESM },
  // The folder of the sources, in place of that of a lock file.
  depsLockFilePath: import.meta.filename,
};
// Resolved when CloudFormation deploys: the template does not contain it.
const WEBHOOK_SECRET = Secret.fromSecretNameV2(stack, 'Secret', 'webhook-secret').secretValue.unsafeUnwrap();
const receive = new NodejsFunction(stack, 'Receive', {
  ...settings,
  entry: 'receive.ts',
  timeout: Duration.seconds(9),
  environment: { WEBHOOK_SECRET, INBOX_TABLE: inbox.tableName },
});
inbox.grant(receive, 'dynamodb:PutItem');
const url = receive.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });

const work = new NodejsFunction(stack, 'Work', {
  ...settings,
  entry: 'work.ts',
  timeout: Duration.minutes(1),
});
work.addEventSource(
  new DynamoEventSource(inbox, {
    startingPosition: StartingPosition.TRIM_HORIZON,
    // Not the removal of expired events.
    filters: [FilterCriteria.filter({ eventName: FilterRule.isEqual('INSERT') })],
    reportBatchItemFailures: true,
    retryAttempts: 10,
    onFailure: new SqsDlq(new Queue(stack, 'Failed', { retentionPeriod: Duration.days(14) })),
  }),
);

new CfnOutput(stack, 'Url', { value: url.url });
