import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { anEndpoint, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';

const engine = dynamoDb();
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
