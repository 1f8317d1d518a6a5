import { ACCEPTED, OTHER_TABLE, REFUSED, TABLE, type TestRequest } from 'aws-local/test/refused-requests.ts';
import type { Check } from './differences.ts';

/** Engines check the form of a signature, not the signature. */
const AUTHORIZATION =
  'AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0';
const DEADLINE_MS = 60_000;

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

type Send = (target: string, body: object) => Promise<Answer>;

/**
 * Checks that an engine itself refuses and accepts what DynamoDB does, by the examples of our own rules
 * (`lib/local/permissions/dynamodb-rules.ts`).
 */
export async function checkRequests(endpoint: string): Promise<Check[]> {
  const send: Send = async (target, body) => {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        authorization: AUTHORIZATION,
        'x-amz-date': '20260101T000000Z',
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': target,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
  };
  const stream = await createTables(send);
  const checks: Check[] = [];
  for (const [what, operation, body] of REFUSED) {
    const answer = await sendRequest(send, operation, body, stream);
    const passed = isRefusal(answer);
    checks.push({ name: `requests › refuses ${what}`, passed, reason: `answered ${describe(answer)}` });
  }
  for (const [what, operation, body] of ACCEPTED) {
    const answer = await sendRequest(send, operation, body, stream);
    const passed = !isRefusal(answer);
    checks.push({ name: `requests › accepts ${what}`, passed, reason: `answered ${describe(answer)}` });
  }
  for (const TableName of TABLES) await send('DynamoDB_20120810.DeleteTable', { TableName });
  return checks;
}

const TABLES = [OTHER_TABLE, TABLE];

/**
 * Creates the tables of the examples.
 * @returns the ARN of a stream and its shard, as `GetShardIterator` takes them
 */
async function createTables(send: Send): Promise<object> {
  const keys = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' },
  ];
  let StreamArn: unknown;
  for (const TableName of TABLES) {
    const { status, body } = await send('DynamoDB_20120810.CreateTable', {
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk', 'dueIn', 'dueAt'].map((name) => ({
        AttributeName: name,
        AttributeType: 'S',
      })),
      KeySchema: keys('pk', 'sk'),
      GlobalSecondaryIndexes: [
        {
          IndexName: 'byDue',
          KeySchema: keys('dueIn', 'dueAt'),
          Projection: { ProjectionType: 'ALL' },
        },
      ],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    });
    if (status !== 200) throw new Error(`CreateTable answered ${status}: ${JSON.stringify(body)}`);
    StreamArn = Object(body.TableDescription).LatestStreamArn;
  }
  const described = await send('DynamoDBStreams_20120810.DescribeStream', { StreamArn });
  const [shard] = Object(described.body.StreamDescription).Shards ?? [];
  return { StreamArn, ShardId: shard?.ShardId, ShardIteratorType: 'AT_SEQUENCE_NUMBER' };
}

function sendRequest(
  send: Send,
  operation: TestRequest[1],
  body: TestRequest[2],
  stream: object,
): Promise<Answer> {
  if (operation === 'GetShardIterator')
    return send(`DynamoDBStreams_20120810.${operation}`, { ...stream, ...body });
  const isOnTables = operation.startsWith('Batch') || operation.startsWith('Transact');
  return send(`DynamoDB_20120810.${operation}`, isOnTables ? body : { TableName: TABLE, ...body });
}

const isRefusal = ({ status, body }: Answer): boolean =>
  status === 400 &&
  /ValidationException|SerializationException|TransactionCanceled/.test(String(body.__type));

const describe = ({ status, body }: Answer): string =>
  status === 200
    ? '200'
    : `${status} ${String(body.__type ?? '')} ${String(body.message ?? body.Message ?? '')}`;
