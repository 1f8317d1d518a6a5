import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { type Channel, channelStore } from '../../../functions/receivers/channels.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { anEndpoint, anHttpChannel, aTenant, aWebWidget, later, NOW } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';

const engine = dynamoDb();

async function anOrganization() {
  const { service } = await engine.tables();
  const channels = channelStore(service);
  const endpoints = endpointStore(service);
  const commit = committer(service.client);
  const { orgId } = aTenant();
  return {
    channels,
    endpoints,
    commit,
    orgId,
    add: (channel: Channel = aWebWidget({ orgId })) => commit(channels.add(channel)),
    remove: (channel: Channel) => commit(channels.remove(channel.orgId, channel.id)),
  };
}

const COMMITTED = { kind: 'committed' };
const LIMIT = { kind: 'refused', refusal: 'channel-limit' };

describe('channels', () => {
  it('are found and listed newest first until they are removed, each in its own organization', async () => {
    const { channels, orgId, add, remove } = await anOrganization();
    const made: Channel[] = [
      aWebWidget({ orgId }),
      anHttpChannel({ orgId, id: newId('chn', later(NOW, 1)) }),
      anHttpChannel({ orgId, id: newId('chn', later(NOW, 2)) }),
    ];
    for (const channel of made) expect(await add(channel)).toEqual(COMMITTED);
    await add(aWebWidget());

    for (const channel of made) expect(await channels.find(orgId, channel.id)).toEqual(channel);
    const { items, next } = await channels.list(orgId, { limit: 2 });
    expect(items).toEqual(made.toReversed().slice(0, 2));
    expect((await channels.list(orgId, { limit: 2, after: next })).items).toEqual(made.slice(0, 1));

    const [first] = made;
    if (first === undefined) throw new Error('three channels were to be made');
    expect(await channels.find(aTenant().orgId, first.id)).toBeUndefined();
    expect(await remove(first)).toEqual(COMMITTED);
    expect(await remove(first)).toEqual({ kind: 'refused', refusal: 'channel-missing' });
    expect(await channels.find(orgId, first.id)).toBeUndefined();
  });

  it('are limited to forty when fifty are added at once, and to forty again after deletions', async () => {
    const { channels, orgId, add, remove } = await anOrganization();

    const results = await Promise.all(Array.from({ length: 50 }, () => add(aWebWidget({ orgId }))));

    expect(results.filter((result) => 'refusal' in result)).toEqual(Array.from({ length: 10 }, () => LIMIT));
    const { items } = await channels.list(orgId, { limit: 100 });
    expect(items).toHaveLength(40);
    const [channel] = items;
    if (channel === undefined) throw new Error('forty channels were to be there');
    await Promise.all(Array.from({ length: 5 }, () => remove(channel)));
    expect([await add(), await add()]).toEqual([COMMITTED, LIMIT]);
  });

  it('do not count as webhook endpoints and are not part of the fan-out', async () => {
    const { endpoints, commit, orgId, add } = await anOrganization();
    for (let count = 0; count < 50; count += 1) await add();

    const endpoint = anEndpoint({ orgId });
    expect(await commit(endpoints.add(endpoint))).toEqual(COMMITTED);
    expect(await endpoints.all(orgId)).toEqual([endpoint]);
  });
});
