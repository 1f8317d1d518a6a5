import { describe, expect, it } from 'vitest';
import { put } from '../../../functions/aws/table.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { MAX_SOURCES, type Source, sourceStore } from '../../../functions/knowledge/sources.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aSandboxTenant, aSource, aTenant } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { rowsIn } from './rows.ts';

const engine = dynamoDb();

async function someSources(tenant = aTenant()) {
  const { knowledge } = await engine.tables();
  const store = sourceStore(knowledge);
  const commit = committer(knowledge.client);
  return {
    knowledge,
    store,
    tenant,
    add: (source: Source = aSource(tenant)) => commit(store.add(source)),
    remove: ({ id }: Pick<Source, 'id'>, of = tenant) => commit(store.remove(of, id)),
    /** Sets the count to so many sources without creating them. */
    async counted(sources: number) {
      await put(knowledge, { ...keys.sourceCount(tenant), sources });
    },
  };
}

const COMMITTED = { kind: 'committed' };
const LIMIT = { kind: 'refused', refusal: 'source-limit' };
const MISSING = { kind: 'refused', refusal: 'source-missing' };

describe('a source', () => {
  it('is found as it was added, by its own tenant only', async () => {
    const { store, tenant, add } = await someSources();
    const source = aSource({ ...tenant, kind: 'spreadsheet', name: 'Prices' });
    await add(source);

    expect(await store.find(tenant, source.id)).toStrictEqual(source);
    for (const other of [aTenant(), { ...tenant, generation: 1 }]) {
      expect(await store.find(other, source.id)).toBeUndefined();
      expect(await store.list(other, { limit: 10 })).toEqual({ items: [] });
    }
  });

  it('has the mark of its sandbox with its count, and none when live', async () => {
    for (const tenant of [aTenant(), aSandboxTenant()]) {
      const { knowledge, add } = await someSources(tenant);
      await add();
      const marks = (await rowsIn(knowledge)).map(({ ofSandbox }) => ofSandbox);
      const mark = tenant.generation === 0 ? undefined : `${tenant.orgId}#${tenant.generation}`;
      expect(marks).toEqual([mark, mark]);
    }
  });
});

describe('the limit of sources', () => {
  it('holds when many are added at once, and applies to each tenant separately', async () => {
    const { add, counted, tenant } = await someSources();
    await counted(MAX_SOURCES - 5);

    const results = await Promise.all(Array.from({ length: 8 }, () => add()));

    expect(results.filter((result) => result.kind === 'committed')).toHaveLength(5);
    expect(results.filter((result) => result.kind === 'refused')).toEqual([LIMIT, LIMIT, LIMIT]);
    expect(await add(aSource({ ...tenant, generation: 1 }))).toEqual(COMMITTED);
  });

  it('has room again for each deleted source, once for repeated deletions', async () => {
    const { add, remove, counted, tenant } = await someSources();
    const source = aSource(tenant);
    await add(source);
    await counted(MAX_SOURCES);
    expect(await add()).toEqual(LIMIT);

    const results = await Promise.all(Array.from({ length: 4 }, () => remove(source)));

    expect(results.filter((result) => result.kind === 'committed')).toHaveLength(1);
    expect(results.filter((result) => result.kind === 'refused')).toEqual([MISSING, MISSING, MISSING]);
    expect([await add(), await add()]).toEqual([COMMITTED, LIMIT]);
  });

  it('does not change when a tenant deletes a source of another', async () => {
    const { add, remove, tenant, store } = await someSources();
    const source = aSource(tenant);
    await add(source);
    const stranger = aTenant();

    expect(await remove(source, stranger)).toEqual(MISSING);
    expect(await store.find(tenant, source.id)).toEqual(source);
  });
});
