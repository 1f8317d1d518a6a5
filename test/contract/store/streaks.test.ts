import { TransactionConflictException } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../functions/domain/endpoint.ts';
import { AT_RISK_SECONDS } from '../../../functions/domain/failure-streak.ts';
import { endpointStore } from '../../../functions/store/endpoints.ts';
import { committer } from '../../../functions/store/transaction.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { storeKinds } from './stores.ts';

const engine = dynamoDb();
const UNTIL = later(NOW, seconds(AT_RISK_SECONDS));

describe.each(storeKinds(engine))('the failure streak of an endpoint (%s)', (_, make) => {
  async function setUp(changes: Partial<Endpoint> = {}) {
    const { endpoints } = await make();
    const endpoint = anEndpoint(changes);
    const { orgId, id } = endpoint;
    await endpoints.put(endpoint);
    return {
      endpoint,
      find: () => endpoints.find(orgId, id),
      begin: () => endpoints.beginStreak(orgId, id),
      mark: (until: Date) => endpoints.markAtRisk(orgId, id, until),
      remove: () => endpoints.remove(orgId, id),
    };
  }

  it('starts once when several workers start it', async () => {
    const { endpoint, find, begin } = await setUp();

    const begun = await Promise.all([begin(), begin(), begin()]);

    const present = await find();
    expect(present).toEqual({ ...endpoint, streak: expect.any(String) });
    expect(begun).toEqual([present, present, present]);
  });

  it('has a unique name', async () => {
    const { endpoints } = await make();
    const names = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const endpoint = anEndpoint();
        await endpoints.put(endpoint);
        return (await endpoints.beginStreak(endpoint.orgId, endpoint.id))?.streak;
      }),
    );
    expect(new Set(names).size).toBe(10);
  });

  it('does not restore a deleted endpoint', async () => {
    const { find, begin, mark, remove } = await setUp();
    await remove();

    await mark(UNTIL);
    expect(await begin()).toBeUndefined();
    expect(await find()).toBeUndefined();
  });

  it('has a mark that is renewed when less than half of its time is left', async () => {
    const { mark, find } = await setUp();
    await mark(UNTIL);
    await mark(later(UNTIL, seconds(AT_RISK_SECONDS / 2)));
    expect(await find()).toMatchObject({ atRiskUntil: UNTIL.toISOString() });

    const renewed = later(UNTIL, seconds(AT_RISK_SECONDS / 2 + 1));
    await mark(renewed);
    expect(await find()).toMatchObject({ atRiskUntil: renewed.toISOString() });
  });
});

describe('the start of a failure streak while transactions change its endpoint', () => {
  async function setUp() {
    const client = engine.client();
    const { service } = await engine.tables(client);
    const endpoints = endpointStore(service);
    const endpoint = anEndpoint();
    await committer(client)(endpoints.add(endpoint));
    const begin = () => endpoints.beginStreak(endpoint.orgId, endpoint.id);
    return { begin, conflicts: (count: number) => conflictWithUpdates(client, count) };
  }

  it('is retried', async () => {
    const { begin, conflicts } = await setUp();
    const { left } = conflicts(3);

    expect(await begin()).toMatchObject({ streak: expect.any(String) });
    expect(left()).toBe(0);
  });

  it('finds the streak that another delivery has started, however often it conflicts', async () => {
    const { begin, conflicts } = await setUp();
    const begun = await begin();
    conflicts(Number.POSITIVE_INFINITY);

    expect(await begin()).toEqual(begun);
  });
});

/** Makes so many updates conflict with a transaction. */
function conflictWithUpdates(client: DynamoDBDocumentClient, count: number): { left(): number } {
  let left = count;
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (request) => {
        if (commandName !== 'UpdateItemCommand' || left === 0) return next(request);
        left -= 1;
        throw new TransactionConflictException({
          message: 'Transaction is ongoing for the item',
          $metadata: {},
        });
      },
    { step: 'initialize', name: 'conflictWithUpdates' },
  );
  return { left: () => left };
}
