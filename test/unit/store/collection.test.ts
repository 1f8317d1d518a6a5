import 'aws-sdk-client-mock-vitest/extend';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { partitionReader } from '../../../functions/store/pages.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';

const dynamo = mockedDynamoDb();
const table = { client: new DynamoDBClient({}), name: 'service' };

const rows = (...names: string[]) => names.map((sk) => ({ pk: 'p', sk }));
const read = partitionReader(table, 'p', (row) => ({ id: String(Object(row).sk) }));
const requests = () => dynamo.commandCalls(QueryCommand).map((call) => call.args[0].input);

beforeEach(() => {
  dynamo.reset();
});

describe('partition reader', () => {
  it('reads newest first and consistently, up to the limit', async () => {
    dynamo.on(QueryCommand).resolves({ Items: rows('b', 'a'), ConsumedCapacity: { CapacityUnits: 3 } });
    expect(await read(undefined, 5)).toEqual({ items: [{ id: 'b' }, { id: 'a' }], ended: true, units: 3 });
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(QueryCommand, {
      TableName: 'service',
      ConsistentRead: true,
      ScanIndexForward: false,
      Limit: 5,
    });
  });

  it('continues after an empty answer', async () => {
    dynamo
      .on(QueryCommand)
      .resolvesOnce({
        Items: [],
        LastEvaluatedKey: { pk: 'p', sk: 'b' },
        ConsumedCapacity: { CapacityUnits: 0.5 },
      })
      .resolves({ Items: rows('a'), ConsumedCapacity: { CapacityUnits: 1 } });
    expect(await read(undefined, 5)).toEqual({ items: [{ id: 'a' }], ended: true, units: 1.5 });
    expect(requests().map((request) => Object.values(request.ExpressionAttributeValues ?? {}))).toEqual([
      ['p'],
      ['p', 'b'],
    ]);
  });

  it('returns the items of an answer that ends early', async () => {
    dynamo.on(QueryCommand).resolves({ Items: rows('d', 'c'), LastEvaluatedKey: { pk: 'p', sk: 'c' } });
    expect(await read(undefined, 5)).toMatchObject({ items: [{ id: 'd' }, { id: 'c' }], ended: false });
    expect(requests()).toHaveLength(1);
  });
});
