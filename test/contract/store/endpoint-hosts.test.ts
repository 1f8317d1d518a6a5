import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { type Endpoint, getCountedHost } from '../../../functions/receivers/endpoint.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { anEndpoint, NOW } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { changingEndpoints } from './endpoint-changes.ts';

const engine = dynamoDb();
const FULL = { kind: 'refused', refusal: 'endpoint-host-limit' };

async function anOrganization(orgId = newId('org', NOW)) {
  const { service } = await engine.tables();
  const endpoints = changingEndpoints(service);
  const commit = committer(service.client);
  const at = (host: string) => anEndpoint({ orgId, url: `https://${host}/hook` });
  const add = async (host: string) => commit(endpoints.add(at(host)));
  const countAt = async (host: string): Promise<number> => {
    const { Item } = await service.client.send(
      new GetCommand({
        TableName: service.name,
        Key: keys.endpointHostCount(orgId, host),
        ConsistentRead: true,
      }),
    );
    return Number(Item?.endpoints ?? 0);
  };
  const put = (endpoint: Endpoint) =>
    service.client.send(
      new PutCommand({
        TableName: service.name,
        Item: { ...keys.endpoint(orgId, endpoint.id), ...endpoint },
      }),
    );
  return { service, endpoints, orgId, at, add, put, countAt };
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe('the limit of endpoints at a host', () => {
  it('holds when thirty are registered at once, with different ports and paths', async () => {
    const { endpoints, orgId, add } = await anOrganization();

    const results = await Promise.all(
      times(30, (index) => add(['a.example.com', 'A.EXAMPLE.com:8443', 'a.example.com'][index % 3] ?? '')),
    );

    expect(results.filter((result) => 'refusal' in result)).toEqual(times(20, () => FULL));
    expect(await endpoints.all(orgId)).toHaveLength(10);
    expect(await add('b.example.com')).toEqual({ kind: 'committed' });
  });

  it('holds when the URLs of many endpoints change to one host at once', async () => {
    const { endpoints, orgId, add, countAt } = await anOrganization();
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
        const { endpoints, orgId, add, countAt } = await anOrganization();
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
    const { service, endpoints, orgId, at, put, countAt } = await anOrganization();
    const [kept, deleted] = [at('a.example.com'), at('a.example.com')];
    for (const endpoint of [kept, deleted]) {
      await committer(service.client)(endpoints.add(endpoint));
      await endpoints.update(orgId, endpoint.id, { url: 'https://localhost/' });
      await put(endpoint);
    }

    expect(await endpoints.remove(orgId, deleted.id, NOW)).toEqual({ kind: 'committed' });
    expect(await countAt('a.example.com')).toBe(0);
    await endpoints.update(orgId, kept.id, { url: 'https://a.example.com/new' });
    expect(await countAt('a.example.com')).toBe(1);
  });
});
