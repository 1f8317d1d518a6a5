import {
  type AttributeValue,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startDynamoDb } from '../../src/engines/dynamodb.ts';
import { provisionTables } from '../../src/provision/provision.ts';
import { dynamoDbClient } from './clients.ts';
import { aTemplate } from './fixture.ts';
import { stateDirectory } from './state-directory.ts';

const TABLE = 'Test-Due';

/** A table with a sparse index by slot and time that includes some of the attributes. */
const due = {
  Due: {
    Type: 'AWS::DynamoDB::GlobalTable',
    Properties: {
      Replicas: [{ Region: 'us-east-1', GlobalSecondaryIndexes: [{ IndexName: 'due' }] }],
      AttributeDefinitions: ['pk', 'slot', 'at'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'due',
          KeySchema: [
            { AttributeName: 'slot', KeyType: 'HASH' },
            { AttributeName: 'at', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['lane'] },
        },
      ],
    },
  },
};

async function aTable(): Promise<DynamoDBClient> {
  const engine = await startDynamoDb({ directory: stateDirectory() });
  onTestFinished(() => engine.stop());
  const client = dynamoDbClient(engine.endpoint);
  const { template, references } = aTemplate(due);
  await provisionTables(template, references, client);
  return client;
}

const put = (client: DynamoDBClient, pk: string, slot: string, at: string) =>
  client.send(
    new PutItemCommand({
      TableName: TABLE,
      Item: {
        pk: { S: pk },
        slot: { S: slot },
        at: { S: at },
        lane: { S: 'fresh' },
        body: { S: 'x'.repeat(500) },
      },
    }),
  );

interface Range {
  until?: string;
  limit?: number;
  after?: Record<string, AttributeValue> | undefined;
  descending?: boolean;
}

const query = (
  client: DynamoDBClient,
  slot: string,
  { until = '9', limit, after, descending = false }: Range = {},
) =>
  client.send(
    new QueryCommand({
      TableName: TABLE,
      IndexName: 'due',
      KeyConditionExpression: 'slot = :slot AND #at <= :until',
      ExpressionAttributeNames: { '#at': 'at' },
      ExpressionAttributeValues: { ':slot': { S: slot }, ':until': { S: until } },
      Limit: limit,
      ExclusiveStartKey: after,
      ScanIndexForward: !descending,
    }),
  );

const ids = (items: Record<string, AttributeValue>[] = []) => items.map(({ pk }) => pk?.S);

describe('an index of the embedded DynamoDB', () => {
  it('has only the keys and the attributes that it includes', async () => {
    const client = await aTable();
    await put(client, 'a', 's1', '1');
    expect((await query(client, 's1')).Items).toEqual([
      { pk: { S: 'a' }, slot: { S: 's1' }, at: { S: '1' }, lane: { S: 'fresh' } },
    ]);
  });

  it('returns a range of its sort key, in order and in both directions', async () => {
    const client = await aTable();
    for (const [pk, at] of [
      ['c', '3'],
      ['a', '1'],
      ['b', '2'],
      ['d', '4'],
    ] as const)
      await put(client, pk, 's1', at);
    await put(client, 'other', 's2', '1');
    expect(ids((await query(client, 's1', { until: '3' })).Items)).toEqual(['a', 'b', 'c']);
    expect(ids((await query(client, 's1', { until: '3', descending: true })).Items)).toEqual(['c', 'b', 'a']);
  });

  it('is read page by page, past items of the same time', async () => {
    const client = await aTable();
    const all = Array.from({ length: 7 }, (_, number) => `item-${number}`);
    for (const pk of all) await put(client, pk, 's1', '1');
    const seen: (string | undefined)[] = [];
    let after: Record<string, AttributeValue> | undefined;
    for (let page = 0; page < 10; page += 1) {
      const answer = await query(client, 's1', { limit: 3, after });
      seen.push(...ids(answer.Items));
      after = answer.LastEvaluatedKey;
      if (!after) break;
      expect(Object.keys(after).sort()).toEqual(['at', 'pk', 'slot']);
    }
    expect(seen.sort()).toEqual(all);
  });

  it('is sparse: an item without one of its keys is not in it', async () => {
    const client = await aTable();
    await put(client, 'a', 's1', '1');
    await put(client, 'b', 's1', '2');
    await client.send(
      new UpdateItemCommand({ TableName: TABLE, Key: { pk: { S: 'a' } }, UpdateExpression: 'REMOVE slot' }),
    );
    await client.send(
      new UpdateItemCommand({
        TableName: TABLE,
        Key: { pk: { S: 'b' } },
        UpdateExpression: 'SET #at = :at',
        ExpressionAttributeNames: { '#at': 'at' },
        ExpressionAttributeValues: { ':at': { S: '5' } },
      }),
    );
    expect((await query(client, 's1')).Items?.map(({ pk, at }) => [pk?.S, at?.S])).toEqual([['b', '5']]);
  });
});
