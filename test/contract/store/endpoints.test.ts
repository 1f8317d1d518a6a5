import { GetCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { put } from '../../../functions/aws/table.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { type Endpoint, type EndpointChange, getCountedHost } from '../../../functions/receivers/endpoint.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { NEW, type PaceMark } from '../../../functions/receivers/pace.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { changingEndpoints } from './endpoint-changes.ts';

const engine = dynamoDb();
const SLOW: PaceMark = { is: 'slow', until: later(NOW, seconds(120)).toISOString() };
const STALLED: PaceMark = { is: 'stalled', until: later(NOW, seconds(3600)).toISOString() };

async function anOrganization(orgId = newId('org', NOW)) {
  const { service } = await engine.tables();
  const endpoints = changingEndpoints(service);
  const commit = committer(service.client);
  const at = (host: string) => anEndpoint({ orgId, url: `https://${host}/hook` });
  let hosts = 0;
  return {
    service,
    endpoints,
    orgId,
    at,
    // Each at a host of its own, because the number of hosts has no limit.
    add: async (endpoint: Endpoint = at(`receiver-${hosts++}.example.com`)) =>
      commit(endpoints.add(endpoint)),
    addAt: async (host: string) => commit(endpoints.add(at(host))),
    remove: (endpoint: Endpoint) => endpoints.remove(endpoint.orgId, endpoint.id, NOW),
    async countAt(host: string): Promise<number> {
      const Key = keys.endpointHostCount(orgId, host);
      const { Item } = await service.client.send(
        new GetCommand({ TableName: service.name, Key, ConsistentRead: true }),
      );
      return Number(Item?.endpoints ?? 0);
    },
  };
}

const COMMITTED = { kind: 'committed' };
const LIMIT = { kind: 'refused', refusal: 'endpoint-limit' };
const FULL = { kind: 'refused', refusal: 'endpoint-host-limit' };

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

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe('the limit of endpoints at a host', () => {
  it('holds when thirty are registered at once, with different ports and paths', async () => {
    const { endpoints, orgId, addAt: add } = await anOrganization();

    const results = await Promise.all(
      times(30, (index) => add(['a.example.com', 'A.EXAMPLE.com:8443', 'a.example.com'][index % 3] ?? '')),
    );

    expect(results.filter((result) => 'refusal' in result)).toEqual(times(20, () => FULL));
    expect(await endpoints.all(orgId)).toHaveLength(10);
    expect(await add('b.example.com')).toEqual({ kind: 'committed' });
  });

  it('holds when the URLs of many endpoints change to one host at once', async () => {
    const { endpoints, orgId, addAt: add, countAt } = await anOrganization();
    await Promise.all(times(15, (index) => add(`from-${index}.example.com`)));
    const all = await endpoints.all(orgId);

    const changed = await Promise.all(
      all.map(({ id }) => endpoints.update(orgId, id, { url: 'https://to.example.com/' })),
    );

    expect(changed.filter((result) => result === 'full')).toHaveLength(5);
    expect(await countAt('to.example.com')).toBe(10);
  });

  it('counts the existing endpoints after any concurrent changes', async () => {
    const hosts = ['a.example.com', 'b.example.com', '192.0.2.1', 'localhost'];
    const change = fc.record({
      what: fc.constantFrom('add', 'remove', 'move', 'events'),
      host: fc.constantFrom(...hosts),
      which: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 8 }), async (rounds) => {
        const { endpoints, orgId, addAt: add, countAt } = await anOrganization();
        for (const round of rounds) {
          const present = await endpoints.all(orgId);
          await Promise.all(
            round.map(async ({ what, host, which }) => {
              const id = present[which % Math.max(1, present.length)]?.id;
              if (what === 'add') await add(host);
              else if (id === undefined) return;
              else if (what === 'remove') await endpoints.remove(orgId, id, NOW);
              else if (what === 'move') await endpoints.update(orgId, id, { url: `https://${host}/moved` });
              else await endpoints.update(orgId, id, { events: ['ticket.created'] });
            }),
          );
        }
        const counted = (await endpoints.all(orgId)).map(({ url }) => getCountedHost(url));
        for (const host of hosts)
          expect(await countAt(host)).toBe(counted.filter((one) => one === host).length);
      }),
      { numRuns: 15 },
    );
  });
});

describe('an endpoint of a version that did not count hosts', () => {
  it('can be deleted and changed, and counts from its next URL on', async () => {
    const { service, endpoints, orgId, at, countAt } = await anOrganization();
    const [kept, deleted] = [at('a.example.com'), at('a.example.com')];
    for (const endpoint of [kept, deleted]) {
      await committer(service.client)(endpoints.add(endpoint));
      await endpoints.update(orgId, endpoint.id, { url: 'https://localhost/' });
      await put(service, { ...keys.endpoint(orgId, endpoint.id), ...endpoint });
    }

    expect(await endpoints.remove(orgId, deleted.id, NOW)).toEqual({ kind: 'committed' });
    expect(await countAt('a.example.com')).toBe(0);
    await endpoints.update(orgId, kept.id, { url: 'https://a.example.com/new' });
    expect(await countAt('a.example.com')).toBe(1);
  });
});

describe('the mark of an endpoint', () => {
  async function setUp(pace?: PaceMark) {
    const { endpoints, orgId, add } = await anOrganization();
    const endpoint = anEndpoint({ orgId, consecutiveFailures: 3, ...(pace && { pace }) });
    await add(endpoint);
    return {
      ...endpoints,
      endpoint,
      set: (seen: PaceMark | undefined, mark: PaceMark | undefined) =>
        endpoints.setPace(endpoint.orgId, endpoint.id, seen, mark),
      read: () => endpoints.find(endpoint.orgId, endpoint.id),
    };
  }

  it.each([
    [undefined, SLOW],
    [NEW, STALLED],
    [STALLED, SLOW],
    [SLOW, undefined],
  ])('%j becomes %j, and nothing else changes', async (seen, mark) => {
    const { endpoint, set, read } = await setUp(seen);
    await set(seen, mark);
    const { pace: _pace, ...rest } = endpoint;
    expect(await read()).toEqual({ ...rest, ...(mark && { pace: mark }) });
  });

  it.each([
    [undefined, SLOW],
    [SLOW, NEW],
    [STALLED, undefined],
  ])('stays when it is no longer the one that was seen: %j where it is %j', async (seen, present) => {
    const { endpoint, set, read } = await setUp(present);
    await set(seen, STALLED);
    expect(await read()).toEqual(endpoint);
  });

  it('does not restore an endpoint that is gone', async () => {
    const { endpoint, remove, set, read } = await setUp();
    await remove(endpoint.orgId, endpoint.id, NOW);
    await set(undefined, SLOW);
    expect(await read()).toBeUndefined();
  });
});

const URL = 'https://receiver.example.com/hook';
const days = (count: number) => seconds(count * 86_400);

/** An endpoint that was disabled on a day after `NOW`. */
const disabledOn = (day: number, changes: Partial<Endpoint> = {}): Endpoint =>
  anEndpoint({
    id: newId('whk', later(NOW, days(day))),
    url: URL,
    status: 'auto_disabled',
    disabledAt: later(NOW, days(day)).toISOString(),
    ...changes,
  });

describe('the predecessor of an endpoint', () => {
  async function anOrganization() {
    const { service } = await engine.tables();
    const store = endpointStore(service);
    const commit = committer(service.client);
    const orgId = newId('org', NOW);
    return {
      add: async (endpoint: Endpoint) => {
        await commit(store.add({ ...endpoint, orgId }));
        return endpoint.id;
      },
      remove: async (id: Endpoint['id'], day: number) => {
        const stored = await store.findToChange(orgId, id);
        if (stored) await commit(store.buildRemoval(stored, [], later(NOW, days(day))));
      },
      find: () => store.findReplaced(orgId, URL),
      store,
    };
  }

  it('is the one with its URL that was disabled last', async () => {
    const { add, find } = await anOrganization();
    const failingSince = later(NOW, days(2)).toISOString();
    await add(disabledOn(1));
    const id = await add(disabledOn(3, { failingSince }));
    await add(disabledOn(2));
    await add(disabledOn(4, { url: `${URL}/other` }));
    await add(anEndpoint({ url: URL, consecutiveFailures: 9, failingSince }));

    expect(await find()).toEqual({
      predecessor: { id, failingSince, disabledAt: later(NOW, days(3)).toISOString() },
    });
  });

  it('may be deleted since, if it was disabled before', async () => {
    const { add, remove, find } = await anOrganization();
    const failingSince = NOW.toISOString();
    const id = await add(disabledOn(1, { failingSince }));
    const active = await add(anEndpoint({ url: URL }));

    await remove(id, 2);
    await remove(active, 3);

    expect(await find()).toEqual({
      predecessor: { id, failingSince, disabledAt: later(NOW, days(1)).toISOString() },
    });
  });

  it('is followed by those that it replaced, deleted ones included', async () => {
    const { add, remove, find } = await anOrganization();
    const first = await add(disabledOn(1));
    const second = await add(disabledOn(2, await find()));
    const third = await add(disabledOn(3, await find()));
    for (const id of [first, second, third]) await remove(id, 4);

    expect(await find()).toMatchObject({ predecessor: { id: third }, replaces: [second, first] });
  });

  it('is none of another organization, nor one that is active', async () => {
    const { add, find, store } = await anOrganization();
    const { orgId } = disabledOn(1);
    await add(anEndpoint({ url: URL }));

    expect(await find()).toEqual({});
    expect(await store.findReplaced(orgId, URL)).toEqual({});
  });
});
