import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Cloud, type CloudOptions, startCloud } from '../../src/cloud.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const require = createRequire(import.meta.url);
const sdkOf = (name: string) => JSON.stringify(require.resolve(`@aws-sdk/client-${name}`));

/**
 * The functions of the fixture: `Api` writes an item to the table, the stream passes it to `FanOut`, which
 * sends it to the queue, which passes it to `Work`, which marks the item as done. An item can make them fail.
 */
const code = `
import dynamodb from ${sdkOf('dynamodb')};
import sqs from ${sdkOf('sqs')};
const table = new dynamodb.DynamoDBClient({});
const queue = new sqs.SQSClient({});
const TableName = process.env.TABLE;

export async function api(event) {
  const { id } = event.pathParameters;
  const Key = { pk: { S: id } };
  if (event.httpMethod === 'DELETE') await table.send(new dynamodb.DeleteItemCommand({ TableName, Key }));
  // Adds an item that is not there, and changes none: the request may come again after the work is done.
  if (event.httpMethod === 'POST') await table.send(new dynamodb.UpdateItemCommand({ TableName, Key }));
  const { Item } = await table.send(new dynamodb.GetItemCommand({ TableName, Key, ConsistentRead: true }));
  return { statusCode: 200, body: JSON.stringify({ doneBy: Item?.doneBy?.SS ?? [], secret: process.env.SECRET_ARN }) };
}

export async function fanOut({ Records }) {
  const ids = Records.map((record) => record.dynamodb.NewImage.pk.S);
  console.log('fan-out ' + JSON.stringify(ids));
  if (ids.some((id) => id.startsWith('poison'))) throw new Error('cannot fan out');
  for (const id of ids) await queue.send(new sqs.SendMessageCommand({ QueueUrl: process.env.QUEUE_URL, MessageBody: id }));
}

export async function work({ Records }) {
  const failures = [];
  for (const { messageId, body, attributes } of Records) {
    console.log('work ' + body + ' ' + attributes.ApproximateReceiveCount);
    if (body.startsWith('twice') && attributes.ApproximateReceiveCount === '1') failures.push({ itemIdentifier: messageId });
    else await table.send(new dynamodb.UpdateItemCommand({
      TableName,
      Key: { pk: { S: body } },
      UpdateExpression: 'ADD doneBy :me',
      ExpressionAttributeValues: { ':me': { SS: [messageId] } },
    }));
  }
  return { batchItemFailures: failures };
}

export async function deadLetter({ Records }) {
  for (const { body } of Records) console.log('dead letter ' + body);
}

export const settings = async () => ({ issuer: process.env.ISSUER, audience: process.env.AUDIENCE, pool: process.env.POOL });

export const direct = async (event) => { if (event.fail) throw new RangeError('asked to fail'); return { event }; };
`;

export const arn = (id: string, attribute = 'Arn') => ({ 'Fn::GetAtt': [id, attribute] });

const joined = (...parts: unknown[]) => ({ 'Fn::Join': ['', parts] });

export const role = (...statements: { Action: string | string[]; Resource: unknown }[]) => ({
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: {},
    Policies: [
      {
        PolicyName: 'own',
        PolicyDocument: {
          Version: '2012-10-17',
          Statement: statements.map((statement) => ({ Effect: 'Allow', ...statement })),
        },
      },
    ],
  },
});

export const lambda = (handler: string, roleId: string, Variables: Record<string, unknown> = {}) => ({
  Type: 'AWS::Lambda::Function',
  Properties: {
    Code: { S3Bucket: 'assets', S3Key: 'code.zip' },
    Runtime: 'nodejs24.x',
    Handler: `index.${handler}`,
    Role: arn(roleId),
    Timeout: 20,
    MemorySize: 256,
    Environment: { Variables },
  },
});

const method = (HttpMethod: string) => ({
  Type: 'AWS::ApiGateway::Method',
  Properties: {
    RestApiId: { Ref: 'Rest' },
    ResourceId: { Ref: 'Item' },
    HttpMethod,
    AuthorizationType: 'NONE',
    Integration: {
      Type: 'AWS_PROXY',
      IntegrationHttpMethod: 'POST',
      Uri: joined(
        'arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/',
        arn('Api'),
        '/invocations',
      ),
    },
  },
});

const template = {
  Resources: {
    Table: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        BillingMode: 'PAY_PER_REQUEST',
        StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      },
    },
    Queue: { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout: 2 } },
    DeadLetters: { Type: 'AWS::SQS::Queue', Properties: {} },
    Secret: { Type: 'AWS::SecretsManager::Secret', Properties: { GenerateSecretString: {} } },
    ApiRole: role({ Action: ['dynamodb:UpdateItem', 'dynamodb:GetItem'], Resource: arn('Table') }),
    FanOutRole: role({ Action: 'sqs:SendMessage', Resource: arn('Queue') }),
    WorkRole: role({ Action: 'dynamodb:UpdateItem', Resource: arn('Table') }),
    PlainRole: role(),
    Api: lambda('api', 'ApiRole', { TABLE: { Ref: 'Table' }, SECRET_ARN: { Ref: 'Secret' } }),
    FanOut: lambda('fanOut', 'FanOutRole', { QUEUE_URL: { Ref: 'Queue' } }),
    Work: lambda('work', 'WorkRole', { TABLE: { Ref: 'Table' } }),
    DeadLetter: lambda('deadLetter', 'PlainRole'),
    Direct: lambda('direct', 'PlainRole'),
    StreamToFanOut: {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: {
        EventSourceArn: arn('Table', 'StreamArn'),
        FunctionName: { Ref: 'FanOut' },
        StartingPosition: 'TRIM_HORIZON',
        BatchSize: 10,
        BisectBatchOnFunctionError: true,
        MaximumRetryAttempts: 1,
        FilterCriteria: { Filters: [{ Pattern: '{"eventName":["INSERT"]}' }] },
        DestinationConfig: { OnFailure: { Destination: arn('DeadLetters') } },
      },
    },
    QueueToWork: {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: {
        EventSourceArn: arn('Queue'),
        FunctionName: { Ref: 'Work' },
        BatchSize: 10,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: 2 },
      },
    },
    DeadLettersToFunction: {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: { EventSourceArn: arn('DeadLetters'), FunctionName: { Ref: 'DeadLetter' } },
    },
    Hourly: {
      Type: 'AWS::Events::Rule',
      Properties: {
        ScheduleExpression: 'rate(1 hour)',
        State: 'ENABLED',
        Targets: [{ Id: 'Direct', Arn: arn('Direct') }],
      },
    },
    Rest: { Type: 'AWS::ApiGateway::RestApi', Properties: { Name: 'Rest' } },
    MayInvoke: {
      Type: 'AWS::Lambda::Permission',
      Properties: {
        Action: 'lambda:InvokeFunction',
        FunctionName: { Ref: 'Api' },
        Principal: 'apigateway.amazonaws.com',
        SourceArn: joined('arn:aws:execute-api:us-east-1:000000000000:', { Ref: 'Rest' }, '/*'),
      },
    },
    Deployment: { Type: 'AWS::ApiGateway::Deployment', Properties: { RestApiId: { Ref: 'Rest' } } },
    Stage: {
      Type: 'AWS::ApiGateway::Stage',
      Properties: { RestApiId: { Ref: 'Rest' }, DeploymentId: { Ref: 'Deployment' }, StageName: 'api' },
    },
    Item: {
      Type: 'AWS::ApiGateway::Resource',
      Properties: { RestApiId: { Ref: 'Rest' }, ParentId: arn('Rest', 'RootResourceId'), PathPart: '{id}' },
    },
    Get: method('GET'),
    Post: method('POST'),
    Delete: method('DELETE'),
  },
  Outputs: {
    ApiUrl: {
      Value: joined(
        'https://',
        { Ref: 'Rest' },
        '.execute-api.us-east-1.amazonaws.com/',
        { Ref: 'Stage' },
        '/',
      ),
    },
    DirectName: { Value: { Ref: 'Direct' } },
  },
};

/** A user pool with its client, and a function with the settings of both. */
export const userPool = {
  Users: {
    Type: 'AWS::Cognito::UserPool',
    Properties: { Schema: [{ Name: 'role', AttributeDataType: 'String', Mutable: true }] },
  },
  Dashboard: {
    Type: 'AWS::Cognito::UserPoolClient',
    Properties: { UserPoolId: { Ref: 'Users' }, ReadAttributes: ['email', 'custom:role'] },
  },
  Settings: lambda('settings', 'PlainRole', {
    ISSUER: arn('Users', 'ProviderURL'),
    AUDIENCE: { Ref: 'Dashboard' },
    POOL: arn('Users'),
  }),
};

/** Directories of a run for the synthesized assembly and the state, until the end of the test. */
export interface Place {
  assembly: string;
  directory: string;
}

/**
 * @param resources of the template, besides the fixture's
 * @param handlers source text that exports their handlers, besides the fixture's
 */
export function aPlace(resources: Record<string, object> = {}, handlers = ''): Place {
  const root = temporaryDirectory();
  const assembly = join(root, 'assembly');
  mkdirSync(join(assembly, 'asset.code'), { recursive: true });
  const write = (file: string, content: unknown) =>
    writeFileSync(join(assembly, file), typeof content === 'string' ? content : JSON.stringify(content));
  write('asset.code/index.mjs', code + handlers);
  write('Test.template.json', { ...template, Resources: { ...template.Resources, ...resources } });
  write('Test.assets.json', {
    files: {
      code: {
        source: { path: 'asset.code', packaging: 'zip' },
        destinations: { here: { bucketName: 'assets', objectKey: 'code.zip' } },
      },
    },
  });
  write('manifest.json', {
    artifacts: {
      'Test.assets': { type: 'cdk:asset-manifest', properties: { file: 'Test.assets.json' } },
      Test: { type: 'aws:cloudformation:stack', properties: { templateFile: 'Test.template.json' } },
    },
  });
  write('ca.pem', '');
  return { assembly, directory: join(root, 'state') };
}

/** The fixture's cloud, until the end of the test, and the lines that its functions have logged. */
export async function aCloud(
  place: Place,
  options: Partial<CloudOptions> = {},
): Promise<{ cloud: Cloud; lines: string[] }> {
  const lines: string[] = [];
  const starting = startCloud({
    ...place,
    port: 0,
    caFile: join(place.assembly, 'ca.pem'),
    onLog: ({ text }) => lines.push(text),
    ...options,
  });
  // Registered before the start, during which a test may time out.
  onTestFinished(async () => {
    const [started] = await Promise.allSettled([starting]);
    if (started.status === 'fulfilled') await started.value.stop();
  });
  return { cloud: await starting, lines };
}
