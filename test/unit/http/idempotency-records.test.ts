import 'aws-sdk-client-mock-vitest/extend';
import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { committer } from '../../../functions/aws/transaction.ts';
import { idempotencyStore } from '../../../functions/http/idempotency.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aTenant, later, NOW } from '../../builders.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';
import { mockedDynamoDb } from '../../support/mocked-dynamodb.ts';

const dynamo = mockedDynamoDb();
const store = idempotencyStore({
  client: new DynamoDBClient({}),
  name: 'service',
});

const DAY = 86_400_000;
const scope = { tenant: aTenant(), route: 'create-thing', key: randomUUID() };
const answer = { fingerprint: 'f', status: 201, location: '/things/1', data: '{"name":"x"}' };
const rowAt = (now: Date) => store.record(scope, answer, now).write.Put?.Item;

/** The row that the table returns. */
let held: Record<string, unknown> | undefined;

beforeEach(() => {
  held = undefined;
  dynamo.reset();
  dynamo.on(GetCommand).callsFake(() => ({ Item: held }));
});

describe('stored idempotent answer', () => {
  it('is found again with a consistent read', async () => {
    held = rowAt(NOW);
    expect(await store.find(scope, later(NOW, 1))).toEqual(answer);
    expect(dynamo).toHaveReceivedCommandExactlyOnceWith(GetCommand, {
      TableName: 'service',
      Key: keys.idempotency(scope.tenant, scope.route, scope.key),
      ConsistentRead: true,
    });
  });

  it('is undefined when there is none', async () => {
    expect(await store.find(scope, NOW)).toBeUndefined();
  });

  it('is found for 24 hours and not a second longer, although its row may stay for days', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 999 }), fc.nat({ max: 2 * DAY }), async (millisecond, age) => {
        const made = later(NOW, millisecond);
        held = rowAt(made);
        const isFound = (await store.find(scope, later(made, age))) !== undefined;
        if (age < DAY) expect(isFound).toBe(true);
        if (age >= DAY + 1000) expect(isFound).toBe(false);
      }),
    );
  });

  it('is replaced exactly when it is no longer found', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: DAY - 2_000, max: DAY + 2_000 }), async (age) => {
        const { service } = memoryTables();
        const stored = idempotencyStore(service);
        const commit = committer(service.client);
        await commit([stored.record(scope, answer, NOW)]);
        const now = later(NOW, age);
        const isFound = (await stored.find(scope, now)) !== undefined;
        expect(await commit([stored.record(scope, answer, now)])).toEqual(
          isFound ? { kind: 'refused', refusal: 'idempotency-key-used' } : { kind: 'committed' },
        );
      }),
      { numRuns: 500 },
    );
  });

  it('fails to parse when the row has another form', async () => {
    held = { ...rowAt(NOW), data: 7 };
    await expect(store.find(scope, NOW)).rejects.toThrow();
  });
});
