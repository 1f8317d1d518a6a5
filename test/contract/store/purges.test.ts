import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { Table } from '../../../functions/aws/table.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { ticketStore } from '../../../functions/conversations/conversations.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import { buildTenantKey, keys, PURGE_SHARDS } from '../../../functions/tenancy/keys.ts';
import { type Purge, purgeSandboxes, purgeStore, sandboxRows } from '../../../functions/tenancy/purge.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { aDelivery, aSandboxTenant, aTicket, later, NOW, seconds } from '../../builders.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { leaveOutOfBatches, readInPagesOf } from './faults.ts';
import { everyRow, type Row, rowsIn } from './rows.ts';

/*
 * The records of purges, and the rows that they delete. That every kind of row is deleted, and nothing else,
 * is in `sandbox-marks.test.ts`.
 */
const engine = dynamoDb();

async function setUp(client = engine.client()) {
  const { service } = await engine.tables(client);
  const store = purgeStore(service);
  const commit = committer(client);
  return { ...store, give: (purge: Purge) => commit([store.order(purge)]) };
}

const aPurge = (changes: Partial<Purge> = {}): Purge => ({
  ...aSandboxTenant(),
  requestedAt: NOW.toISOString(),
  deleted: 0,
  ...changes,
});

/** A purge that was requested. */
async function given(
  orders: { give(purge: Purge): Promise<unknown> },
  changes: Partial<Purge> = {},
): Promise<Purge> {
  const purge = aPurge(changes);
  await orders.give(purge);
  return purge;
}

const at = (second: number) => later(NOW, seconds(second)).toISOString();
const SECONDS = 900;

describe('the record of a purge', () => {
  it('is gone once it is closed, also twice', async () => {
    const orders = await setUp();
    const [purge, other] = [await given(orders), await given(orders)];

    await orders.close(purge, NOW);
    await orders.close(purge, NOW);

    expect(await orders.open()).toEqual([other]);
  });
});

describe('the lease of a purge', () => {
  it('cannot be taken for a finished purge, and releasing it restores nothing', async () => {
    const orders = await setUp();
    const purge = await given(orders);
    await orders.close(purge, NOW);

    expect(await orders.lease(purge, SECONDS, NOW)).toBe(false);
    await orders.release(purge);

    expect(await orders.open()).toEqual([]);
  });
});

describe('the progress of a purge', () => {
  it('adds up when several workers report it at once', async () => {
    const orders = await setUp();
    const purge = await given(orders);

    await Promise.all(Array.from({ length: 20 }, () => orders.progress(purge, 7)));

    expect(await orders.open()).toEqual([{ ...purge, deleted: 140 }]);
  });

  it('does not restore a finished purge', async () => {
    const orders = await setUp();
    const purge = await given(orders);
    await orders.close(purge, NOW);

    await orders.progress(purge, 200);

    expect(await orders.open()).toEqual([]);
  });
});

describe('purges in the table', () => {
  it('are added once for a generation', async () => {
    const { give, open } = await setUp();
    const purge = aPurge();

    expect(await give(purge)).toEqual({ kind: 'committed' });
    expect(await give({ ...purge, requestedAt: at(5) })).toEqual({ kind: 'refused', refusal: 'exists' });

    expect(await open()).toEqual([purge]);
  });

  it('are found in all shards, page by page', async () => {
    const client = engine.client();
    const orders = await setUp(client);
    const all: Purge[] = [];
    // So many that a shard without one is once in ten million runs.
    for (let number = 0; number < 60; number += 1)
      all.push(await given(orders, { requestedAt: at((number * 7) % 60) }));
    expect(new Set(all.map(({ orgId }) => keys.purgesOf(orgId))).size).toBe(PURGE_SHARDS);
    readInPagesOf(client, 2);

    expect(await orders.open()).toEqual(all.toSorted((a, b) => (a.requestedAt < b.requestedAt ? -1 : 1)));
  });

  it('of one sandbox are listed without others, the oldest generation first', async () => {
    const orders = await setUp();
    const orgId = newId('org', NOW);
    for (const generation of [10, 2, 9, 1]) await given(orders, { orgId, generation });
    for (let others = 0; others < 10; others += 1) await given(orders);

    expect((await orders.of(orgId)).map(({ generation }) => generation)).toEqual([1, 2, 9, 10]);
    expect(await orders.of(newId('org', NOW))).toEqual([]);
  });
});

/** Tables that can have rows of a sandbox. */
const NAMES = ['service', 'outbox', 'deliveries', 'ledger'] as const;

/** A table with rows of sandboxes and others. */
async function aTable(name: keyof TestTables = 'service', client = engine.client()) {
  const table = (await engine.tables(client))[name];
  let made = 0;
  const row = (attributes: Row): Row => {
    made += 1;
    return {
      pk: `pk-${made}`,
      sk: `sk-${made}`,
      body: 'x'.repeat(300),
      ...attributes,
    };
  };
  return {
    ...sandboxRows(table),
    /**
     * Stores so many rows.
     * @param of the sandbox that owns them; live when absent
     */
    async having(count: number, of?: Tenant): Promise<Row[]> {
      const rows = Array.from({ length: count }, () => row(of ? { ofSandbox: buildTenantKey(of) } : {}));
      await putAll(table, rows);
      return rows;
    },
    rows: () => rowsIn(table),
  };
}

async function putAll(table: Table, rows: readonly Row[]): Promise<void> {
  for (let first = 0; first < rows.length; first += 25)
    await table.client.send(
      new BatchWriteCommand({
        RequestItems: {
          [table.name]: rows.slice(first, first + 25).map((Item) => ({ PutRequest: { Item } })),
        },
      }),
    );
}

const inOrder = (rows: readonly object[]): object[] =>
  (rows as readonly Row[]).toSorted((a, b) => (String(a.pk) < String(b.pk) ? -1 : 1));
const pickKeys = (rows: readonly Row[]): Row[] => rows.map(({ pk, sk }) => ({ pk, sk }));

describe.each(NAMES)('rows of a generation in the table %s', (name) => {
  it('are found by their keys, and removed without any others', async () => {
    const { find, remove, having, rows } = await aTable(name);
    const tenant = aSandboxTenant();
    const its = await having(4, tenant);
    const others = [
      ...(await having(3)),
      ...(await having(3, aSandboxTenant())),
      ...(await having(3, { ...tenant, generation: 2 })),
      // The key of the other one is its prefix.
      ...(await having(3, { ...tenant, generation: 10 })),
    ];

    const remaining = await find(tenant, 100);
    expect(inOrder(remaining)).toEqual(inOrder(pickKeys(its)));
    await remove(remaining);

    expect(await find(tenant, 100)).toEqual([]);
    expect(inOrder(await rows())).toEqual(inOrder(others));
  });
});

describe('rows of a generation', () => {
  afterEach(() => vi.restoreAllMocks());

  it('are removed although DynamoDB leaves rows out of its answers', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const client = engine.client();
    const { find, remove, having, rows } = await aTable('service', client);
    const tenant = aSandboxTenant();
    await having(60, tenant);
    const live = await having(2);
    const batches = leaveOutOfBatches(client, (size) => Math.floor(size / 2));

    await remove(await find(tenant, 100));

    expect(batches.sizes().length).toBeGreaterThan(3);
    expect(inOrder(await rows())).toEqual(inOrder(live));
  });

  it('are reported as throttled when rows are left out repeatedly', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const client = engine.client();
    const { find, remove, having, rows } = await aTable('service', client);
    const tenant = aSandboxTenant();
    await having(5, tenant);
    leaveOutOfBatches(client, (size) => (size > 1 ? 1 : size));

    await expect(find(tenant, 100).then(remove)).rejects.toMatchObject({ name: 'ThrottlingException' });

    // The removed rows are gone; the next run finds the others.
    expect(await rows()).toHaveLength(1);
  });

  it('can be removed twice', async () => {
    const { find, remove, having, rows } = await aTable();
    const tenant = aSandboxTenant();
    await having(30, tenant);
    const live = await having(1);
    const remaining = await find(tenant, 100);

    await Promise.all([remove(remaining), remove(remaining)]);
    await remove(remaining);

    expect(await rows()).toEqual(live);
  });
});

describe('a purge', () => {
  it('deletes nothing within its linger time, and all pages of its rows afterwards', async () => {
    const tables = await engine.tables();
    const { service, outbox, deliveries, ledger } = tables;
    const commit = committer(service.client);
    const purges = purgeStore(service);
    const tenant = { orgId: newId('org', NOW), generation: 1 };
    const addTicket = (owner: Tenant) => commit(ticketStore(service).add(owner, aTicket()));
    await Promise.all(Array.from({ length: 450 }, () => deliveryStore(deliveries).add(aDelivery(tenant))));
    await Promise.all(Array.from({ length: 250 }, () => addTicket(tenant)));
    await addTicket({ ...tenant, generation: 2 });
    const before = await everyRow(tables);
    await commit([purges.order({ ...tenant, requestedAt: NOW.toISOString() })]);
    const remains = [outbox, deliveries, ledger, service].map(sandboxRows);
    const at = (now: Date) =>
      purgeSandboxes(
        { purges, remains, log: recordedLog(), now: () => now },
        { lingerSeconds: 1, leaseSeconds: 60 },
      )(() => true);

    expect(await at(NOW)).toMatchObject({ deleted: 0, closed: 0, open: 1 });
    expect(await everyRow(tables)).toHaveProperty('size', before.size + 1);
    expect(await at(later(NOW, seconds(1)))).toMatchObject({ deleted: 700, closed: 1, open: 0 });

    expect(await purges.of(tenant.orgId)).toEqual([]);
    const after = await everyRow(tables);
    expect(before.size - after.size).toBe(700);
    expect([...after.values()].filter(({ ofSandbox }) => ofSandbox === `${tenant.orgId}#1`)).toEqual([]);
  });
});
