import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { dynamoDb } from '../../engines.ts';
import { type Consumed, metered } from '../../support/consumed.ts';

/*
 * The cost measurements rely on the units that the engine reports, so these must follow DynamoDB's documented
 * rules.
 */

const engine = dynamoDb();
const key = { pk: 'a', sk: 'b' };
let client: DynamoDBDocumentClient;
let TableName: string;
let consumed: () => Consumed;

beforeEach(async () => {
  client = engine.client();
  ({
    deliveries: { name: TableName },
  } = await engine.tables(client));
  consumed = metered(client);
});

const put = (item: object) => client.send(new PutCommand({ TableName, Item: { ...key, ...item } }));
const update = (UpdateExpression: string, values?: Record<string, unknown>) =>
  client.send(
    new UpdateCommand({
      TableName,
      Key: key,
      UpdateExpression,
      ...(values && { ExpressionAttributeValues: values }),
    }),
  );

describe('the units that the engine reports', () => {
  it('are one for each kilobyte of a written item', async () => {
    // Names and values, including those of the key.
    const rest = 1024 - 'pkaskbv'.length;
    await put({ v: 'x'.repeat(rest) });
    expect(consumed().writes).toBe(1);

    await put({ v: 'x'.repeat(rest + 1) });
    expect(consumed().writes).toBe(2);

    await put({ v: 'x' });
    expect(consumed().writes).toBe(2);
  });

  it('are one more for a new or removed index entry, and two more for a moved one', async () => {
    await put({});
    consumed();

    await update('SET dueIn = :in, dueKey = :at', { ':in': 'watched#1', ':at': '1' });
    expect(consumed().writes).toBe(2);
    await update('SET dueKey = :at', { ':at': '2' });
    expect(consumed().writes).toBe(3);
    await update('SET lease = :lease', { ':lease': 'not in the index' });
    expect(consumed().writes).toBe(1);
    await update('REMOVE dueIn, dueKey');
    expect(consumed().writes).toBe(2);
  });

  it('are twice as many in a transaction', async () => {
    const other = { ...key, sk: 'c' };
    await put({});
    consumed();

    await client.send(
      new TransactWriteCommand({
        TransactItems: [
          { Put: { TableName, Item: other } },
          { ConditionCheck: { TableName, Key: key, ConditionExpression: 'attribute_exists(pk)' } },
        ],
      }),
    );

    expect(consumed().writes).toBe(4);
  });

  it('are half as many for eventually consistent reads, with and without an item', async () => {
    await put({});
    consumed();

    await client.send(new GetCommand({ TableName, Key: key, ConsistentRead: true }));
    expect(consumed().reads).toBe(1);
    const Keys = [key, { ...key, sk: 'missing' }];
    await client.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys } } }));
    expect(consumed().reads).toBe(1);
  });
});
