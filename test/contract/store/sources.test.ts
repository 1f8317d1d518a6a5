import { describe, expect, it } from 'vitest';
import { put } from '../../../functions/aws/table.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { MAX_SOURCES, type Source, sourceStore } from '../../../functions/knowledge/sources.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aSource, aTenant } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';

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
});
