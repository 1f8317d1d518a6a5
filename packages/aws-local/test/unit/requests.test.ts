import { describe, expect, it } from 'vitest';
import { requestsOf } from '../../src/permissions/requests.ts';

const table = (name: string) => `arn:aws:dynamodb:us-east-1:000000000000:table/${name}`;
const queue = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;

const dynamodb = (operation: string, body: unknown) =>
  requestsOf('dynamodb', `DynamoDB_20120810.${operation}`, body);
const sqs = (operation: string, body: unknown) => requestsOf('sqs', `AmazonSQS.${operation}`, body);

describe('the permissions that a DynamoDB request needs', () => {
  it('are the operation on its table', () => {
    expect(dynamodb('PutItem', { TableName: 'Events', Item: {} })).toEqual([
      { action: 'dynamodb:PutItem', resource: table('Events') },
    ]);
    expect(dynamodb('GetItem', { TableName: table('Events') })).toEqual([
      { action: 'dynamodb:GetItem', resource: table('Events') },
    ]);
  });

  it('are on the index where one is read', () => {
    expect(dynamodb('Query', { TableName: 'Events', IndexName: 'due' })).toEqual([
      { action: 'dynamodb:Query', resource: `${table('Events')}/index/due` },
    ]);
    expect(dynamodb('Scan', { TableName: 'Events' })).toEqual([
      { action: 'dynamodb:Scan', resource: table('Events') },
    ]);
  });

  it('are those of each part of a transaction', () => {
    const TransactItems = [
      { Put: { TableName: 'A' } },
      { Update: { TableName: 'B' } },
      { Delete: { TableName: 'C' } },
      { ConditionCheck: { TableName: 'D' } },
    ];
    expect(dynamodb('TransactWriteItems', { TransactItems })).toEqual([
      { action: 'dynamodb:PutItem', resource: table('A') },
      { action: 'dynamodb:UpdateItem', resource: table('B') },
      { action: 'dynamodb:DeleteItem', resource: table('C') },
      { action: 'dynamodb:ConditionCheckItem', resource: table('D') },
    ]);
    expect(dynamodb('TransactGetItems', { TransactItems: [{ Get: { TableName: 'A' } }] })).toEqual([
      { action: 'dynamodb:GetItem', resource: table('A') },
    ]);
  });

  it('are the batch operation on each table', () => {
    expect(dynamodb('BatchWriteItem', { RequestItems: { A: [], B: [] } })).toEqual([
      { action: 'dynamodb:BatchWriteItem', resource: table('A') },
      { action: 'dynamodb:BatchWriteItem', resource: table('B') },
    ]);
  });

  it('are on the stream where one is read', () => {
    const StreamArn = `${table('Events')}/stream/1`;
    const streams = (operation: string, body: unknown) =>
      requestsOf('dynamodb', `DynamoDBStreams_20120810.${operation}`, body);
    for (const operation of ['DescribeStream', 'GetShardIterator', 'GetRecords'])
      expect(streams(operation, { StreamArn })).toEqual([
        { action: `dynamodb:${operation}`, resource: StreamArn },
      ]);
    // An unknown iterator does not have a known stream.
    expect(streams('GetRecords', { ShardIterator: 'a' })).toEqual([]);
  });

  it('are on everything where there is no single resource', () => {
    expect(dynamodb('ListTables', {})).toEqual([{ action: 'dynamodb:ListTables', resource: '*' }]);
  });
});

describe('the permissions that other requests need', () => {
  it('are those of one message for a batch of messages', () => {
    const QueueUrl = 'http://127.0.0.1:4000/000000000000/Work';
    expect(sqs('SendMessage', { QueueUrl })).toEqual([
      { action: 'sqs:SendMessage', resource: queue('Work') },
    ]);
    expect(sqs('DeleteMessageBatch', { QueueUrl })).toEqual([
      { action: 'sqs:DeleteMessage', resource: queue('Work') },
    ]);
    expect(sqs('GetQueueAttributes', { QueueUrl })).toEqual([
      { action: 'sqs:GetQueueAttributes', resource: queue('Work') },
    ]);
    expect(sqs('ChangeMessageVisibilityBatch', { QueueUrl })).toEqual([
      { action: 'sqs:ChangeMessageVisibility', resource: queue('Work') },
    ]);
    expect(sqs('GetQueueUrl', { QueueName: 'Work' })).toEqual([
      { action: 'sqs:GetQueueUrl', resource: queue('Work') },
    ]);
  });

  it('name a secret by its ARN', () => {
    const resource = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:master-000000';
    const read = (SecretId: string) =>
      requestsOf('secretsmanager', 'secretsmanager.GetSecretValue', { SecretId });
    expect(read('master')).toEqual([{ action: 'secretsmanager:GetSecretValue', resource }]);
    expect(read(resource)).toEqual([{ action: 'secretsmanager:GetSecretValue', resource }]);
  });

  it('are on each bus that entries are put on', () => {
    const bus = (name: string) => `arn:aws:events:us-east-1:000000000000:event-bus/${name}`;
    const Entries = [{ EventBusName: 'A' }, { EventBusName: bus('B') }, {}, { EventBusName: 'A' }];
    expect(requestsOf('events', 'AWSEvents.PutEvents', { Entries })).toEqual(
      [bus('A'), bus('B'), bus('default')].map((resource) => ({ action: 'events:PutEvents', resource })),
    );
  });

  it('are on the user pool whose users are listed', () => {
    expect(
      requestsOf('cognito-idp', 'AWSCognitoIdentityProviderService.ListUsers', { UserPoolId: 'us-east-1_A' }),
    ).toEqual([
      {
        action: 'cognito-idp:ListUsers',
        resource: 'arn:aws:cognito-idp:us-east-1:000000000000:userpool/us-east-1_A',
      },
    ]);
  });

  it('are on the function that is invoked', () => {
    const permission = {
      action: 'lambda:InvokeFunction',
      resource: 'arn:aws:lambda:us-east-1:000000000000:function:greet',
    };
    for (const FunctionName of ['greet', permission.resource])
      expect(requestsOf('lambda', 'Lambda.Invoke', { FunctionName })).toEqual([permission]);
  });

  it('are on the sender of an e-mail or its domain, and on the configuration set', () => {
    const ses = (resource: string) => `arn:aws:ses:us-east-1:000000000000:${resource}`;
    const action = 'ses:SendEmail';
    const onSender = { action, resource: ses('identity/a@b.test'), or: ses('identity/b.test') };
    const send = (body: object) => requestsOf('ses', 'SES.SendEmail', body);
    expect(send({ FromEmailAddress: 'a@b.test' })).toEqual([onSender]);
    expect(send({ FromEmailAddress: 'Ada <a@b.test>', ConfigurationSetName: 'c' })).toEqual([
      onSender,
      { action, resource: ses('configuration-set/c') },
    ]);
    expect(send({})).toEqual([]);
  });

  it.each([undefined, null, 'text', {}, { TableName: 7 }, []])('are none for a malformed body %j', (body) => {
    expect(dynamodb('GetItem', body)).toEqual([]);
    expect(dynamodb('TransactWriteItems', body)).toEqual([]);
    expect(sqs('SendMessage', body)).toEqual([]);
  });

  it.each(['ExecuteStatement', 'constructor', ''])('are unknown for the operation %j', (operation) => {
    expect(() => dynamodb(operation, {})).toThrow(`which permission dynamodb:${operation} needs`);
  });
});
