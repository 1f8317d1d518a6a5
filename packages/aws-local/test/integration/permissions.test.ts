import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { LocalFunctionOptions } from '../../src/functions/options.ts';
import type { LocalFunction } from '../../src/functions/runtime.ts';
import type { Statement } from '../../src/permissions/statements.ts';
import { until } from '../support/until.ts';
import { aFunctionModule } from './a-function.ts';

const TABLE = 'arn:aws:dynamodb:us-east-1:000000000000:table/Events';
const sdk = createRequire(import.meta.url).resolve('@aws-sdk/client-dynamodb');
const callsDynamoDb = `
  import sdk from ${JSON.stringify(sdk)};
  const client = new sdk.DynamoDBClient({ maxAttempts: 1 });
  export const handler = ({ command, input }) => client.send(new sdk[command](input));
`;
const callsSes = callsDynamoDb
  .replace(sdk, createRequire(import.meta.url).resolve('@aws-sdk/client-sesv2'))
  .replace('DynamoDBClient', 'SESv2Client');
const callsStreams = callsDynamoDb
  .replace(sdk, createRequire(import.meta.url).resolve('@aws-sdk/client-dynamodb-streams'))
  .replace('DynamoDBClient', 'DynamoDBStreamsClient');

/** An engine that answers every request with an empty object and records it. */
async function anEngine(): Promise<{ endpoint: string; calls: string[] }> {
  const calls: string[] = [];
  const server = createServer(async (request, response) => {
    calls.push(`${String(request.headers['x-amz-target']).split('.')[1]} ${await text(request)}`);
    response.setHeader('content-type', 'application/x-amz-json-1.0').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the engine listens on a port');
  return { endpoint: `http://127.0.0.1:${address.port}`, calls };
}

function aCaller(
  endpoint: string,
  statements: Statement[],
  lines: string[] = [],
  source = callsDynamoDb,
  options: Partial<LocalFunctionOptions> = {},
): LocalFunction {
  return aFunctionModule(source, {
    ...options,
    statements,
    endpoints: [endpoint],
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      AWS_ENDPOINT_URL_DYNAMODB_STREAMS: endpoint,
      AWS_ENDPOINT_URL_SESV2: endpoint,
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    },
    onLog: (line) => lines.push(line),
  });
}

describe('an SDK call of a function', () => {
  const key = { pk: { S: 'a' } };
  let engine: Awaited<ReturnType<typeof anEngine>>;
  beforeEach(async () => {
    engine = await anEngine();
  });

  it.each([
    [
      'a prefix of nothing',
      'QueryCommand',
      {
        TableName: 'Events',
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: { ':pk': { S: 'a' }, ':prefix': { S: '' } },
      },
      /empty string value. Key: sk/,
    ],
    [
      'an empty key of an index',
      'PutItemCommand',
      { TableName: 'Events', Item: { ...key, due: { S: '' } } },
      /IndexName: byDue, IndexKey: due/,
    ],
  ])(
    'is refused as by DynamoDB, before it reaches the engine, with %s',
    async (_, command, input, message) => {
      const actions = ['dynamodb:Query', 'dynamodb:PutItem'];
      const tableKeys = { Events: { key: ['pk', 'sk'], indexes: [{ name: 'byDue', key: ['due'] }] } };
      const fn = aCaller(
        engine.endpoint,
        [{ effect: 'Allow', actions, resources: [TABLE] }],
        [],
        callsDynamoDb,
        {
          tableKeys,
        },
      );

      expect((await fn.invoke({ command, input })).payload).toMatchObject({
        errorType: 'ValidationException',
        errorMessage: expect.stringMatching(message),
      });
      expect(engine.calls).toEqual([]);
    },
  );

  it('reaches the engine unchanged where the role permits it', async () => {
    const fn = aCaller(engine.endpoint, [
      { effect: 'Allow', actions: ['dynamodb:GetItem'], resources: [TABLE] },
    ]);
    const result = await fn.invoke({ command: 'GetItemCommand', input: { TableName: 'Events', Key: key } });
    expect(result.functionError).toBeUndefined();
    expect(engine.calls).toEqual([`GetItem {"TableName":"Events","Key":{"pk":{"S":"a"}}}`]);
  });

  it("is refused where the role does not, with AWS's message, without reaching the engine", async () => {
    const lines: string[] = [];
    const statements: Statement[] = [{ effect: 'Allow', actions: ['dynamodb:GetItem'], resources: [TABLE] }];
    const fn = aCaller(engine.endpoint, statements, lines);
    const result = await fn.invoke({
      command: 'DeleteItemCommand',
      input: { TableName: 'Events', Key: key },
    });
    expect(result).toMatchObject({
      functionError: 'Unhandled',
      payload: {
        errorType: 'AccessDeniedException',
        errorMessage: expect.stringContaining(
          `is not authorized to perform: dynamodb:DeleteItem on resource: ${TABLE}`,
        ),
      },
    });
    expect(engine.calls).toEqual([]);
    // The line comes through the output of the process, the result through another channel.
    await until('the line of the denial', () =>
      lines.some((line) => line.startsWith('AccessDeniedException: User: ')),
    );

    const allowed = await fn.invoke({ command: 'GetItemCommand', input: { TableName: 'Events', Key: key } });
    expect(allowed.functionError).toBeUndefined();
  });

  it('needs, to read a stream, the permission on that stream, for its iterators and for its records', async () => {
    const StreamArn = `${TABLE}/stream/1`;
    const iterator = { table_name: 'Events', shard_id: 'shardId-1', position: 2 };
    const calls = [
      ['GetShardIteratorCommand', { StreamArn, ShardId: 'shardId-1', ShardIteratorType: 'TRIM_HORIZON' }],
      ['GetRecordsCommand', { ShardIterator: Buffer.from(JSON.stringify(iterator)).toString('base64') }],
    ] as const;
    const outcomes = async (...actions: string[]) => {
      const statements: Statement[] = [{ effect: 'Allow', actions, resources: [StreamArn] }];
      const fn = aCaller(engine.endpoint, statements, [], callsStreams);
      const results: unknown[] = [];
      for (const [command, input] of calls) results.push((await fn.invoke({ command, input })).functionError);
      return results;
    };
    expect(await outcomes('dynamodb:GetShardIterator', 'dynamodb:GetRecords')).toEqual([
      undefined,
      undefined,
    ]);
    expect(await outcomes('dynamodb:GetShardIterator')).toEqual([undefined, 'Unhandled']);
    expect(engine.calls.map((call) => call.split(' ')[0])).toEqual([
      'GetShardIterator',
      'GetRecords',
      'GetShardIterator',
    ]);
  });

  it('is recognized in a REST protocol by method and path, and needs the sender or its domain', async () => {
    const outcome = async (identity: string, command = 'SendEmailCommand') => {
      const resource = `arn:aws:ses:us-east-1:000000000000:identity/${identity}`;
      const statements: Statement[] = [
        { effect: 'Allow', actions: ['ses:SendEmail'], resources: [resource] },
      ];
      const fn = aCaller(engine.endpoint, statements, [], callsSes);
      const input = { FromEmailAddress: 'a@local.test', Content: {} };
      const { payload, functionError } = await fn.invoke({ command, input });
      return functionError && payload;
    };
    expect(await outcome('a@local.test')).toBeUndefined();
    expect(await outcome('local.test')).toBeUndefined();
    expect(await outcome('other.test')).toMatchObject({
      errorType: 'AccessDeniedException',
      errorMessage: expect.stringContaining('ses:SendEmail on resource: arn:aws:ses:us-east-1'),
    });
    expect(engine.calls).toHaveLength(2);
    expect(await outcome('local.test', 'GetAccountCommand')).toMatchObject({
      errorMessage: 'The local run does not know the service of the call GET /v2/email/account',
    });
  });

  it('is sent and reported where roles are not enforced', async () => {
    const reports: unknown[] = [];
    const fn = aCaller(engine.endpoint, [], [], callsDynamoDb, {
      rolesEnforced: false,
      onPermission: ({ action }, isAllowed) => reports.push([action, isAllowed]),
    });
    const result = await fn.invoke({ command: 'GetItemCommand', input: { TableName: 'Events', Key: key } });
    expect(result.functionError).toBeUndefined();
    expect(engine.calls).toHaveLength(1);
    expect(reports).toEqual([['dynamodb:GetItem', false]]);
  });
});
