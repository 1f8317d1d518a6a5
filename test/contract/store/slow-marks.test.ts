import { describe, expect, it } from 'vitest';
import { SLOW_SECONDS } from '../../../functions/domain/lanes.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { dynamoDbStores, storeKinds } from './stores.ts';

const engine = dynamoDb();

const UNTIL = later(NOW, seconds(SLOW_SECONDS));
const HALF = seconds(SLOW_SECONDS / 2);

describe.each(storeKinds(engine))('the mark of a slow endpoint (%s)', (_, make) => {
  async function setUp(changes: Parameters<typeof anEndpoint>[0] = {}) {
    const { endpoints } = await make();
    const endpoint = anEndpoint(changes);
    await endpoints.put(endpoint);
    const mark = (until: Date) => endpoints.markSlow(endpoint.orgId, endpoint.id, until);
    const find = () => endpoints.find(endpoint.orgId, endpoint.id);
    return { endpoints, endpoint, mark, find };
  }

  it('has a time, and changes nothing else', async () => {
    const { endpoint, mark, find } = await setUp({ consecutiveFailures: 3 });

    await mark(UNTIL);

    expect(await find()).toEqual({ ...endpoint, slowUntil: UNTIL.toISOString(), unproven: true });
  });

  it.each([0, 1, HALF])('stays unchanged when it ends %i ms earlier', async (ms) => {
    const { mark, find } = await setUp();

    await mark(UNTIL);
    await mark(later(UNTIL, ms));

    expect(await find()).toMatchObject({ slowUntil: UNTIL.toISOString() });
  });

  it('is renewed after half of its time', async () => {
    const { mark, find } = await setUp();
    const renewed = later(UNTIL, HALF + 1);

    await mark(UNTIL);
    await mark(renewed);

    expect(await find()).toMatchObject({ slowUntil: renewed.toISOString() });
  });

  it('is never shortened', async () => {
    const { mark, find } = await setUp({ slowUntil: UNTIL.toISOString() });

    await mark(NOW);

    expect(await find()).toMatchObject({ slowUntil: UNTIL.toISOString() });
  });

  it('does not restore an endpoint that is gone', async () => {
    const { endpoints, endpoint, mark, find } = await setUp();
    await endpoints.remove(endpoint.orgId, endpoint.id);

    await mark(UNTIL);

    expect(await find()).toBeUndefined();
  });

  it('makes the endpoint unproven until a success after the mark has expired', async () => {
    const { endpoints, endpoint, mark, find } = await setUp();
    const prove = (now: Date) => endpoints.markProven(endpoint.orgId, endpoint.id, now);
    await mark(UNTIL);

    await prove(later(UNTIL, -1));
    expect(await find()).toMatchObject({ unproven: true });

    await prove(UNTIL);
    expect(await find()).toEqual({ ...endpoint, slowUntil: UNTIL.toISOString() });
  });
});

describe.each(storeKinds(engine))('the proof of an endpoint (%s)', (_, make) => {
  it('ends the unproven state, and changes nothing else', async () => {
    const { endpoints } = await make();
    const endpoint = anEndpoint();
    await endpoints.put({ ...endpoint, unproven: true });

    await endpoints.markProven(endpoint.orgId, endpoint.id, NOW);

    expect(await endpoints.find(endpoint.orgId, endpoint.id)).toEqual(endpoint);
  });

  it('does not restore an endpoint that is gone', async () => {
    const { endpoints } = await make();
    const { orgId, id } = anEndpoint();

    await endpoints.markProven(orgId, id, NOW);

    expect(await endpoints.find(orgId, id)).toBeUndefined();
  });
});

it('writes a slow endpoint once when many attempts report it at once', async () => {
  const client = engine.client();
  const { endpoints } = dynamoDbStores(await engine.tables(client));
  const endpoint = anEndpoint();
  await endpoints.put(endpoint);
  let changes = 0;
  client.middlewareStack.add(
    (next, context) => async (request) => {
      const answer = await next(request);
      if (context.commandName === 'UpdateItemCommand') changes += 1;
      return answer;
    },
    { step: 'initialize', name: 'countChanges' },
  );

  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      endpoints.markSlow(endpoint.orgId, endpoint.id, later(UNTIL, index)),
    ),
  );

  expect(changes).toBe(1);
});
