import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { StandardRetryStrategy } from '@smithy/core/retry';
import { mockClient } from 'aws-sdk-client-mock';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { leanClientOptions } from '../../../functions/platform/clients/clients.ts';
import { withKeptSteps } from '../../../functions/platform/clients/steps.ts';

interface Request {
  hostname: string;
  path: string;
  headers: Record<string, string>;
  body: Uint8Array;
}
type Answer = { status: number; body: string; headers?: Record<string, string> } | Error;

const NOW = new Date('2026-03-01T12:00:00Z');
const HOUR_LATER = new Date(NOW.getTime() + 3_600_000).toUTCString();

/** A service that records its requests and gives these answers, the last one again and again. */
function aServer(answers: readonly Answer[]) {
  const requests: Request[] = [];
  const retryStrategy = new StandardRetryStrategy({
    maxAttempts: 3,
    backoff: { computeNextBackoffDelay: () => 0, setDelayBase: () => undefined },
  });
  const options = (service: 'dynamodb' | 'sqs' | 'events') => ({
    ...leanClientOptions(service, {
      credentials: async () => ({ accessKeyId: 'a', secretAccessKey: 'b' }),
      region: () => 'eu-central-1',
    }),
    region: 'eu-central-1',
    retryStrategy,
    requestHandler: {
      async handle(request: Request, { abortSignal }: { abortSignal?: AbortSignal } = {}) {
        abortSignal?.throwIfAborted();
        const answer = answers[Math.min(requests.length, answers.length - 1)];
        requests.push({ ...request, headers: { ...request.headers } });
        if (answer instanceof Error || answer === undefined) throw answer;
        const { status, body, headers } = answer;
        const type = { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': 'r' };
        return {
          response: { statusCode: status, headers: { ...type, ...headers }, body: Buffer.from(body) },
        };
      },
    },
  });
  return { requests, options };
}

const MARSHALLING = { marshallOptions: { removeUndefinedValues: true } };

/** The clients of the functions, and the SDK's with the same options. */
const KINDS = {
  ours: (server: ReturnType<typeof aServer>) => ({
    documents: withKeptSteps(
      DynamoDBDocumentClient.from(new DynamoDBClient(server.options('dynamodb')), MARSHALLING),
    ),
    queues: withKeptSteps(new SQSClient(server.options('sqs'))),
    events: withKeptSteps(new EventBridgeClient(server.options('events'))),
  }),
  sdks: (server: ReturnType<typeof aServer>) => ({
    documents: DynamoDBDocumentClient.from(new DynamoDBClient(server.options('dynamodb')), MARSHALLING),
    queues: new SQSClient(server.options('sqs')),
    events: new EventBridgeClient(server.options('events')),
  }),
};
type Clients = ReturnType<(typeof KINDS)['ours']>;

const aText = fc.string({ unit: 'grapheme', maxLength: 12 });
const anItem = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,6}$/),
  fc.oneof(
    aText,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constant(undefined),
    fc.array(aText, { maxLength: 3 }),
    fc.uint8Array({ maxLength: 8 }),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.integer(), { maxKeys: 3 }),
  ),
  { maxKeys: 4 },
);
const Key = { pk: 'a', sk: 'b' };
const aCall = fc.oneof(
  anItem.map(
    (Item) =>
      ({ documents }: Clients) =>
        documents.send(new PutCommand({ TableName: 't', Item })),
  ),
  anItem.map(
    (values) =>
      ({ documents }: Clients) =>
        documents.send(
          new UpdateCommand({
            TableName: 't',
            Key,
            UpdateExpression: 'x',
            ExpressionAttributeValues: values,
          }),
        ),
  ),
  anItem.map(
    (Item) =>
      ({ documents }: Clients) =>
        documents.send(
          new TransactWriteCommand({
            ClientRequestToken: 'token',
            TransactItems: [{ Put: { TableName: 't', Item } }, { Delete: { TableName: 'u', Key } }],
          }),
        ),
  ),
  fc.constantFrom(
    ({ documents }: Clients) => documents.send(new GetCommand({ TableName: 't', Key })),
    ({ documents }: Clients) =>
      documents.send(new GetCommand({ TableName: 't', Key }), { abortSignal: new AbortController().signal }),
    ({ documents }: Clients) =>
      documents.send(new GetCommand({ TableName: 't', Key }), { abortSignal: AbortSignal.abort() }),
    ({ documents }: Clients) => documents.send(new BatchGetCommand({ RequestItems: { t: { Keys: [Key] } } })),
    ({ documents }: Clients) =>
      documents.send(
        new QueryCommand({ TableName: 't', KeyConditionExpression: 'x', ExclusiveStartKey: Key }),
      ),
  ),
  aText.map(
    (MessageBody) =>
      ({ queues }: Clients) =>
        queues.send(
          new SendMessageBatchCommand({
            QueueUrl: 'https://sqs.eu-central-1.amazonaws.com/123456789012/q',
            Entries: [{ Id: '0', MessageBody }],
          }),
        ),
  ),
  aText.map(
    (Detail) =>
      ({ events }: Clients) =>
        events.send(new PutEventsCommand({ Entries: [{ Source: 's', DetailType: 'd', Detail }] })),
  ),
);

const VALUES = { n: { N: '7' }, s: { S: 'ä' }, l: { L: [{ BOOL: true }, { NULL: true }] } };
const refused = (type: string, more: object = {}, headers: Record<string, string> = {}): Answer => ({
  status: 400,
  body: JSON.stringify({ __type: `com.amazonaws#${type}`, message: `it is ${type}`, ...more }),
  headers,
});
const anAnswer = fc.constantFrom<Answer>(
  { status: 200, body: '{}' },
  { status: 200, body: JSON.stringify({ Item: VALUES, Items: [VALUES], Attributes: VALUES }) },
  { status: 200, body: JSON.stringify({ Responses: { t: [VALUES] }, UnprocessedKeys: {} }) },
  // The checksum of another message.
  {
    status: 200,
    body: JSON.stringify({ Successful: [{ Id: '0', MessageId: 'm', MD5OfMessageBody: 'no' }] }),
  },
  { status: 200, body: 'not JSON' },
  refused('ConditionalCheckFailedException', { Item: VALUES }),
  refused('TransactionCanceledException', { CancellationReasons: [{ Code: 'None' }, { Code: 'x' }] }),
  refused('ProvisionedThroughputExceededException'),
  refused('ValidationException'),
  { status: 500, body: '' },
  { status: 503, body: '<html>', headers: { 'retry-after': '0' } },
  // Of a caller whose clock is an hour behind.
  refused('RequestTimeTooSkewed', {}, { date: HOUR_LATER }),
  { status: 200, body: '{}', headers: { date: HOUR_LATER } },
  Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }),
  Object.assign(new Error('no response'), { name: 'TimeoutError' }),
);

const textOf = (body: Uint8Array): string => new TextDecoder().decode(body);

/** What a service sees of a request, but for names of the SDK and a header that `node:http` adds. */
function seen({ hostname, path, headers, body }: Request) {
  const {
    'user-agent': _,
    'x-amz-user-agent': __,
    'amz-sdk-invocation-id': invocation,
    'content-length': ___,
    authorization,
    ...others
  } = headers;
  return {
    hostname,
    path,
    headers: others,
    body: textOf(body),
    isSigned: authorization?.includes('Signature='),
    isNumbered: invocation !== undefined,
  };
}

async function outcomeOf(call: Promise<object>) {
  try {
    return { answer: await call };
  } catch (error) {
    const { name, message, ...others } = error as Error;
    return { error: { class: (error as Error).constructor.name, name, message, ...others } };
  }
}

/** What calls one after another send and return. */
async function historyOf(
  kind: keyof typeof KINDS,
  calls: ((clients: Clients) => Promise<object>)[],
  answers: Answer[],
) {
  const server = aServer(answers);
  const clients = KINDS[kind](server) as Clients;
  const outcomes: unknown[] = [];
  for (const call of calls) outcomes.push(await outcomeOf(call(clients)));
  return { outcomes, requests: server.requests.map(seen) };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

const FINE: Answer = { status: 200, body: JSON.stringify({ Item: { n: { N: '7' } } }) };
const aClient = (answers: Answer[] = [FINE]) => {
  const server = aServer(answers);
  return { ...server, client: KINDS.ours(server).documents };
};
const read = () => new GetCommand({ TableName: 't', Key });

describe('clients with fewer steps', () => {
  it("send, repeat and return what the SDK's clients do", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(aCall, { minLength: 1, maxLength: 5 }),
        fc.array(anAnswer, { minLength: 1, maxLength: 8 }),
        async (calls, answers) => {
          const ours = await historyOf('ours', calls, answers);
          expect(ours).toEqual(await historyOf('sdks', calls, answers));
        },
      ),
    );
  });

  it.each([
    new DynamoDBClient({ region: 'x' }),
    new SQSClient({ region: 'x' }),
    new EventBridgeClient({ region: 'x' }),
  ])('leave out some of these: %#', (client) => {
    // A version of the SDK with other steps must be read before it is used.
    expect(client.middlewareStack.identify()).toEqual([
      'loggerMiddleware - initialize',
      'serializerMiddleware - serialize',
      'contentLengthMiddleware - build',
      'getUserAgentMiddleware - build',
      'hostHeaderMiddleware - build',
      'recursionDetectionMiddleware - build',
      'retryMiddleware - finalizeRequest',
      'httpSigningMiddleware (a.k.a. apiKeyMiddleware,tokenMiddleware,awsAuthMiddleware) - finalizeRequest',
      'deserializerMiddleware - deserialize',
    ]);
  });

  it('are replaced by a mock of their class', async () => {
    const { client, requests } = aClient();
    const mocked = mockClient(DynamoDBDocumentClient);
    mocked.on(GetCommand).resolves({ Item: { n: 8 } });
    expect(await client.send(read())).toEqual({ Item: { n: 8 } });
    expect(requests).toEqual([]);
    mocked.restore();
    expect(await client.send(read())).toMatchObject({ Item: { n: 7 } });
  });

  it('refuse a client without one of them', async () => {
    const { client } = aClient();
    client.middlewareStack.remove('loggerMiddleware');
    await expect(client.send(read())).rejects.toThrow('the SDK has no step loggerMiddleware');
  });

  it('name the SDK, its version and the service', async () => {
    const { client, requests } = aClient();
    await client.send(read());
    expect(requests[0]?.headers['user-agent']).toMatch(
      /^aws-sdk-js\/3[.\d]+ .*os\/\w+#\S+ .*md\/nodejs#\S+ .*api\/DynamoDB#3/,
    );
  });
});

describe('kept steps', () => {
  /** Counts how often the client's steps are resolved. */
  const counted = (client: DynamoDBDocumentClient) => {
    const made = vi.fn();
    client.middlewareStack.add(
      (next) => {
        made();
        return next;
      },
      { step: 'build', name: 'counted' },
    );
    return made;
  };

  it('are resolved once for each kind of command, and for each request that can be aborted', async () => {
    const { client } = aClient();
    const made = counted(client);
    for (let round = 0; round < 3; round += 1) await client.send(read());
    expect(made).toHaveBeenCalledTimes(1);
    await client.send(new PutCommand({ TableName: 't', Item: Key }));
    expect(made).toHaveBeenCalledTimes(2);
    await client.send(read(), { abortSignal: AbortSignal.timeout(60_000) });
    await client.send(read());
    expect(made).toHaveBeenCalledTimes(3);
  });

  it('do not keep the signal of a request', async () => {
    const { client } = aClient();
    const abandoned = client.send(read(), { abortSignal: AbortSignal.abort() });
    await expect(abandoned).rejects.toThrow('abort');
    expect(await client.send(read())).toMatchObject({ Item: { n: 7 } });
  });

  it('change when a step is added or removed', async () => {
    const { client } = aClient();
    await client.send(read());
    const made = counted(client);
    await client.send(read());
    expect(made).toHaveBeenCalledTimes(1);
    client.middlewareStack.remove('counted');
    await client.send(read());
    expect(made).toHaveBeenCalledTimes(1);
  });

  it('serve requests at the same time', async () => {
    const { client, requests } = aClient();
    const keys = Array.from({ length: 20 }, (_, number) => `key-${number}`);
    await Promise.all(
      keys.map((pk) => client.send(new GetCommand({ TableName: 't', Key: { pk, sk: 'b' } }))),
    );
    const sent = requests.map(({ body }) => JSON.parse(textOf(body)).Key.pk.S);
    expect(sent.sort()).toEqual(keys.sort());
  });
});
