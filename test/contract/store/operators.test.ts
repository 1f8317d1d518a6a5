import { describe, expect, it } from 'vitest';
import { committer } from '../../../functions/aws/transaction.ts';
import { idempotencyStore } from '../../../functions/http/idempotency.ts';
import { channelStore } from '../../../functions/receivers/channels.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { endpointScan, endpointState, type ScannedPage } from '../../../lib/operate/endpoint-scan.ts';
import { anEndpoint, anHttpChannel, aTenant, NOW } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { dynamoDbStores } from './stores.ts';

const engine = dynamoDb();

async function setUp(changes: Partial<Endpoint> = {}) {
  const tables = await engine.tables();
  const stores = dynamoDbStores(tables);
  const endpoint = anEndpoint(changes);
  await stores.endpoints.put(endpoint);
  const find = () => endpointStore(tables.service).find(endpoint.orgId, endpoint.id);
  const state = endpointState(tables.service);
  return { tables, stores, endpoint, find, state };
}

describe('an operator', () => {
  it('disables an active endpoint once, without a reason', async () => {
    const { endpoint, find, state, stores } = await setUp({ consecutiveFailures: 3 });
    const { orgId, id } = endpoint;

    const results = await Promise.all([0, 1, 2].map(() => state.disable(orgId, id, NOW)));

    expect(results.filter(Boolean)).toHaveLength(1);
    expect(await find()).toEqual({ ...endpoint, status: 'auto_disabled', disabledAt: NOW.toISOString() });
    const [entry, ...more] = await stores.auditEntries(orgId);
    expect(entry).toMatchObject({ action: 'webhook.disabled', targetId: id, actorType: 'operator' });
    expect(more).toEqual([]);
  });

  it('enables a disabled endpoint once, without failures', async () => {
    const { endpoint, find, state, stores } = await setUp({
      status: 'auto_disabled',
      consecutiveFailures: 10,
      failingSince: NOW.toISOString(),
      disabledAt: NOW.toISOString(),
      disabledReason: 'consecutive_failures',
      pace: { is: 'slow', until: NOW.toISOString() },
    });
    const { orgId, id } = endpoint;

    expect(await state.enable(orgId, id, NOW)).toBe(true);
    expect(await state.enable(orgId, id, NOW)).toBe(false);

    const { failingSince, disabledAt, disabledReason, ...rest } = endpoint;
    expect(await find()).toEqual({ ...rest, status: 'active', pace: { is: 'new' }, consecutiveFailures: 0 });
    expect((await stores.auditEntries(orgId)).map(({ action, changes }) => [action, changes])).toEqual([
      ['webhook.enabled', [{ field: 'status', before: 'auto_disabled', after: 'active' }]],
    ]);
  });

  it('creates no endpoint', async () => {
    const { tables, state } = await setUp();
    const { orgId, id } = anEndpoint();
    expect(await state.disable(orgId, id, NOW)).toBe(false);
    expect(await state.enable(orgId, id, NOW)).toBe(false);
    expect(await endpointStore(tables.service).find(orgId, id)).toBeUndefined();
  });

  it('disables and enables a channel too', async () => {
    const { tables, state, stores } = await setUp();
    const channel = anHttpChannel();
    await committer(tables.service.client)(channelStore(tables.service).add(channel));
    expect(await state.disable(channel.orgId, channel.id, NOW)).toBe(true);
    expect(await stores.auditEntries(channel.orgId)).toMatchObject([
      { action: 'channel.disabled', targetId: channel.id },
    ]);
    expect(await endpointStore(tables.service).find(channel.orgId, channel.id)).toMatchObject({
      status: 'auto_disabled',
    });
  });
});

async function all<T>(pages: AsyncGenerator<ScannedPage<T>>): Promise<T[]> {
  const items: T[] = [];
  for await (const page of pages) items.push(...page.found);
  return items;
}

describe("an operator's scan", () => {
  it('finds endpoints, channels and idempotency records that use a key version', async () => {
    const { tables, stores, endpoint } = await setUp({ keyVersion: '1' });
    const second = anEndpoint({ keyVersion: '11' });
    await stores.endpoints.put(second);
    const channel = anHttpChannel({ keyVersion: '2' });
    await committer(tables.service.client)(channelStore(tables.service).add(channel));
    const scope = { tenant: aTenant(), route: 'register-webhook', key: 'a-key' };
    const record = {
      fingerprint: 'f',
      status: 201,
      data: JSON.stringify({ id: endpoint.id, keyVersion: '1' }),
    };
    await committer(tables.service.client)([idempotencyStore(tables.service).record(scope, record, NOW)]);

    const scan = endpointScan(tables.service);
    const names = async (version: string) => (await all(scan.usesOf(version))).map(({ sk }) => sk).toSorted();
    expect(await names('1')).toEqual(['idempotency', endpoint.id].toSorted());
    expect(await names('2')).toEqual([channel.id]);
    expect(await names('11')).toEqual([second.id]);
    expect(await names('3')).toEqual([]);
  });

  it('finds disabled endpoints of all organizations', async () => {
    const { tables, stores } = await setUp();
    const disabled = anEndpoint({
      status: 'auto_disabled',
      disabledAt: NOW.toISOString(),
      disabledReason: 'consecutive_failures',
    });
    await stores.endpoints.put(disabled);
    expect(await all(endpointScan(tables.service).disabled())).toEqual([
      {
        id: disabled.id,
        orgId: disabled.orgId,
        disabledAt: disabled.disabledAt,
        disabledReason: disabled.disabledReason,
      },
    ]);
  });
});
