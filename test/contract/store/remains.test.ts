import { BatchWriteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Table } from '../../../functions/aws/table.ts';
import { buildTenantKey } from '../../../functions/tenancy/keys.ts';
import { sandboxRows } from '../../../functions/tenancy/purge.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { aSandboxTenant } from '../../builders.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { leaveOutOfBatches } from './faults.ts';

const engine = dynamoDb();

/** Tables that can have rows of a sandbox. */
const NAMES = ['service', 'outbox', 'deliveries', 'ledger'] as const;

type Row = Record<string, unknown>;

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
    async rows(): Promise<Row[]> {
      const { Items = [] } = await client.send(
        new ScanCommand({ TableName: table.name, ConsistentRead: true }),
      );
      return Items;
    },
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

  it('are found in pages', async () => {
    const { find, remove, having, rows } = await aTable();
    const tenant = aSandboxTenant();
    await having(23, tenant);

    const pages: number[] = [];
    for (let page = await find(tenant, 10); page.length > 0; page = await find(tenant, 10)) {
      pages.push(page.length);
      await remove(page);
    }

    expect(pages).toEqual([10, 10, 3]);
    expect(await rows()).toEqual([]);
  });

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
