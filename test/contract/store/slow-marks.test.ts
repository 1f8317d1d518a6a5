import { describe, expect, it } from 'vitest';
import { SLOW_SECONDS } from '../../../functions/domain/lanes.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { dynamoDbStores, storeKinds } from './stores.ts';

const engine = dynamoDb();

const UNTIL = later(NOW, seconds(SLOW_SECONDS));
const HALF = seconds(SLOW_SECONDS / 2);

describe.each(storeKinds(engine))('marking an endpoint as slow (%s)', (_, make) => {
  async function having(changes: Parameters<typeof anEndpoint>[0] = {}) {
    const { endpoints } = await make();
    const endpoint = anEndpoint(changes);
    await endpoints.put(endpoint);
    const mark = (until: Date) => endpoints.markSlow(endpoint.orgId, endpoint.id, until);
    const find = () => endpoints.find(endpoint.orgId, endpoint.id);
    return { endpoints, endpoint, mark, find };
  }

  it('says until when, and changes nothing else', async () => {
    const { endpoint, mark, find } = await having({ consecutiveFailures: 3 });

    await mark(UNTIL);

    expect(await find()).toEqual({ ...endpoint, slowUntil: UNTIL.toISOString(), unproven: true });
  });

  it.each([0, 1, HALF])('leaves a mark that ends %i ms earlier as it is', async (ms) => {
    const { mark, find } = await having();

    await mark(UNTIL);
    await mark(later(UNTIL, ms));

    expect(await find()).toMatchObject({ slowUntil: UNTIL.toISOString() });
  });

  it('renews a mark that is past its half', async () => {
    const { mark, find } = await having();
    const renewed = later(UNTIL, HALF + 1);

    await mark(UNTIL);
    await mark(renewed);

    expect(await find()).toMatchObject({ slowUntil: renewed.toISOString() });
  });

  it('never shortens a mark', async () => {
    const { mark, find } = await having({ slowUntil: UNTIL.toISOString() });

    await mark(NOW);

    expect(await find()).toMatchObject({ slowUntil: UNTIL.toISOString() });
  });

  it('makes no endpoint of one that is gone', async () => {
    const { endpoints, endpoint, mark, find } = await having();
    await endpoints.remove(endpoint.orgId, endpoint.id);

    await mark(UNTIL);

    expect(await find()).toBeUndefined();
  });

  it('makes the endpoint unproven until it is proven after the mark has expired', async () => {
    const { endpoints, endpoint, mark, find } = await having();
    const prove = (now: Date) => endpoints.markProven(endpoint.orgId, endpoint.id, now);
    await mark(UNTIL);

    await prove(later(UNTIL, -1));
    expect(await find()).toMatchObject({ unproven: true });

    await prove(UNTIL);
    expect(await find()).toEqual({ ...endpoint, slowUntil: UNTIL.toISOString() });
  });
});

describe.each(storeKinds(engine))('proving an endpoint (%s)', (_, make) => {
  it('ends that it is unproven, and changes nothing else', async () => {
    const { endpoints } = await make();
    const endpoint = anEndpoint();
    await endpoints.put({ ...endpoint, unproven: true });

    await endpoints.markProven(endpoint.orgId, endpoint.id, NOW);

    expect(await endpoints.find(endpoint.orgId, endpoint.id)).toEqual(endpoint);
  });

  it('makes no endpoint of one that is gone', async () => {
    const { endpoints } = await make();
    const { orgId, id } = anEndpoint();

    await endpoints.markProven(orgId, id, NOW);

    expect(await endpoints.find(orgId, id)).toBeUndefined();
  });
});

it('changes the item of a slow endpoint once, however many attempts tell so at once', async () => {
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
