import 'aws-sdk-client-mock-vitest/extend';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import { latestHours } from '../../../functions/domain/delivery-stats.ts';
import { newId } from '../../../functions/domain/ids.ts';
import { NOTHING } from '../../../functions/domain/ledger.ts';
import { isTransient } from '../../../functions/platform/pipeline/failure.ts';
import { keys } from '../../../functions/store/keys.ts';
import { ledgerStore } from '../../../functions/store/ledger.ts';
import { NOW } from '../../builders.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const ledger = ledgerStore({ client, name: 'ledger' });

const webhookId = newId('whk', NOW);
const rows = new Map(
  latestHours(NOW, 168).map((hour) => [
    JSON.stringify(keys.ledger(webhookId, 0, hour)),
    { webhookId, generation: 0, hour, ...NOTHING, owed: 1 },
  ]),
);
/** Keys of each request that was made. */
let requests: string[][];

/** @param most keys of a request that are dealt with; the others come back unprocessed */
function answering(most: number): void {
  dynamo.on(BatchGetCommand).callsFake(({ RequestItems }) => {
    const asked: object[] = RequestItems.ledger.Keys;
    requests.push(asked.map((key) => JSON.stringify(key)));
    const left = asked.slice(most);
    return {
      Responses: { ledger: asked.slice(0, most).flatMap((key) => rows.get(JSON.stringify(key)) ?? []) },
      UnprocessedKeys: left.length > 0 ? { ledger: { Keys: left } } : {},
    };
  });
}

beforeEach(() => {
  dynamo.reset();
  requests = [];
});

describe('reading an endpoint’s hours', () => {
  it.each([1, 24, 100, 101, 168])(
    'gives all of %i, asked for in as few requests as there can be',
    async (count) => {
      answering(100);
      const hours = latestHours(NOW, count);
      const found = await ledger.read(webhookId, 0, hours);
      expect(found.map(({ hour }) => hour).sort()).toEqual(hours.toSorted());
      expect(requests).toHaveLength(Math.ceil(count / 100));
    },
  );

  it('asks again for what was left out, and for nothing twice that was not', async () => {
    answering(60);
    const hours = latestHours(NOW, 168);
    const found = await ledger.read(webhookId, 0, hours);
    expect(found.map(({ hour }) => hour).sort()).toEqual(hours.toSorted());
    expect(requests.map((asked) => asked.length)).toEqual([100, 100, 48]);
  });

  it.each([1, 24, 168])(
    'of %i gives up as one that may be tried later when nothing more comes',
    async (count) => {
      answering(0);
      const failed = await ledger.read(webhookId, 0, latestHours(NOW, count)).catch((error) => error);
      expect(isTransient(failed)).toBe(true);
      expect(requests.length).toBeLessThan(10);
    },
  );
});

describe('reading the hours of several endpoints', () => {
  it.each([
    [0, 24, 0],
    [1, 24, 1],
    [4, 24, 1],
    [5, 24, 2],
    [50, 24, 12],
    [50, 168, 84],
  ])('of %i gives all of %i, in %i requests', async (endpoints, count, expected) => {
    dynamo.on(BatchGetCommand).callsFake(({ RequestItems }) => {
      const asked: { pk: string; sk: string }[] = RequestItems.ledger.Keys;
      requests.push(asked.map((key) => JSON.stringify(key)));
      return { Responses: { ledger: asked.map(rowAt) } };
    });
    const ids = Array.from({ length: endpoints }, () => newId('whk', NOW));
    const hours = latestHours(NOW, count);
    const found = await ledger.readAll(ids, 0, hours);
    const named = (id: string, hour: string) => `${id} ${hour}`;
    expect(found.map(({ webhookId: id, hour }) => named(id, hour)).sort()).toEqual(
      ids.flatMap((id) => hours.map((hour) => named(id, hour))).sort(),
    );
    expect(requests).toHaveLength(expected);
  });

  const rowAt = ({ pk, sk }: { pk: string; sk: string }) => ({
    webhookId: sk.split('#')[0],
    generation: 0,
    hour: pk.split('#')[0],
    ...NOTHING,
    owed: 1,
  });
});
