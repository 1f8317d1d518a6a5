import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import type { Endpoint, EndpointChange } from '../../../functions/receivers/endpoint.ts';
import { NEW } from '../../../functions/receivers/pace.ts';
import { anEndpoint, NOW } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { changingEndpoints } from './endpoint-changes.ts';

const engine = dynamoDb();

async function anOrganization() {
  const { service } = await engine.tables();
  const endpoints = changingEndpoints(service);
  const commit = committer(service.client);
  const orgId = newId('org', NOW);
  let hosts = 0;
  // Each at a host of its own, because the number of hosts has no limit.
  const add = async (
    endpoint: Endpoint = anEndpoint({ orgId, url: `https://receiver-${hosts++}.example.com/` }),
  ) => commit(endpoints.add(endpoint));
  const remove = (endpoint: Endpoint) => endpoints.remove(endpoint.orgId, endpoint.id, NOW);
  return { endpoints, orgId, add, remove };
}

const COMMITTED = { kind: 'committed' };
const LIMIT = { kind: 'refused', refusal: 'endpoint-limit' };

/** Sixty registrations, so many at a time. */
async function sixtyAdds(add: () => Promise<object>): Promise<object[]> {
  return Promise.all(Array.from({ length: 60 }, () => add()));
}

describe('the limit of endpoints', () => {
  it('holds when sixty are registered at once', async () => {
    const { endpoints, orgId, add } = await anOrganization();

    const results = await sixtyAdds(add);

    expect(results.filter((result) => 'refusal' in result)).toEqual(Array.from({ length: 10 }, () => LIMIT));
    expect(await endpoints.all(orgId)).toHaveLength(50);
  });

  it('has room again for exactly as many as were deleted', async () => {
    const { endpoints, orgId, add, remove } = await anOrganization();
    await sixtyAdds(add);
    const [first, second] = await endpoints.all(orgId);
    if (first === undefined || second === undefined) throw new Error('fifty endpoints were to be there');

    expect(await add()).toEqual(LIMIT);
    expect(await remove(first)).toEqual(COMMITTED);
    expect(await remove(second)).toEqual(COMMITTED);

    expect([await add(), await add(), await add()]).toEqual([COMMITTED, COMMITTED, LIMIT]);
  });

  it('counts an endpoint once that is deleted repeatedly', async () => {
    const { endpoints, orgId, add, remove } = await anOrganization();
    await sixtyAdds(add);
    const [endpoint] = await endpoints.all(orgId);
    if (endpoint === undefined) throw new Error('fifty endpoints were to be there');

    const results = await Promise.all(Array.from({ length: 5 }, () => remove(endpoint)));

    expect(results.filter((result) => result.kind === 'committed')).toHaveLength(1);
    expect(results.filter((result) => result.kind === 'refused')).toEqual(
      Array.from({ length: 4 }, () => ({ kind: 'refused', refusal: 'endpoint-missing' })),
    );
    expect([await add(), await add()]).toEqual([COMMITTED, LIMIT]);
  });

  it('does not count an endpoint that is added twice', async () => {
    const { endpoints, orgId, add } = await anOrganization();
    const endpoint = anEndpoint({ orgId });
    await add(endpoint);

    expect(await add({ ...endpoint, url: 'https://elsewhere.example.com/' })).toEqual({
      kind: 'refused',
      refusal: 'exists',
    });
    expect(await endpoints.all(orgId)).toEqual([endpoint]);
    expect((await sixtyAdds(add)).filter((result) => 'refusal' in result)).toHaveLength(11);
  });
});

describe('an update of an endpoint', () => {
  it('changes its URL and event types, makes it new at a new URL, and changes nothing else', async () => {
    const { endpoints, orgId, add } = await anOrganization();
    const endpoint = anEndpoint({ orgId, consecutiveFailures: 4 });
    await add(endpoint);
    const change = { url: 'https://new.example.com/hook', events: ['ticket.created' as const] };

    const changed = { ...endpoint, ...change, pace: NEW };
    expect(await endpoints.update(orgId, endpoint.id, change)).toEqual(changed);
    expect(await endpoints.find(orgId, endpoint.id)).toEqual(changed);
  });

  it('changes and removes a description, also together with the URL', async () => {
    const { endpoints, orgId, add } = await anOrganization();
    const endpoint = anEndpoint({ orgId, url: 'https://a.example.com/' });
    await add(endpoint);
    const update = (change: EndpointChange) => endpoints.update(orgId, endpoint.id, change);

    expect(await update({ description: 'Helpdesk' })).toEqual({ ...endpoint, description: 'Helpdesk' });
    expect(await update({ description: null })).toEqual(endpoint);
    await update({ description: '' });
    const moved = { url: 'https://b.example.com/', pace: NEW };
    expect(await update({ ...moved, description: null })).toEqual({ ...endpoint, ...moved });
  });

  it('does not restore a deleted endpoint', async () => {
    const { endpoints, orgId, add, remove } = await anOrganization();
    const endpoint = anEndpoint({ orgId });
    await add(endpoint);
    await remove(endpoint);

    expect(await endpoints.update(orgId, endpoint.id, { url: 'https://new.example.com/' })).toBeUndefined();
    expect(await endpoints.find(orgId, endpoint.id)).toBeUndefined();
  });
});
