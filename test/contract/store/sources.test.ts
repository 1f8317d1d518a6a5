import { describe, expect, it } from 'vitest';
import { put } from '../../../functions/aws/table.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { type CheckSlot, checkSlots } from '../../../functions/knowledge/source-checks.ts';
import { MAX_SOURCES, type Source, sourceStore } from '../../../functions/knowledge/sources.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aSource, aTenant, later, NOW, seconds } from '../../builders.ts';
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

const SHARE = 3;
const LEASE = 75;

const make = async () => checkSlots((await engine.tables()).knowledge, SHARE);

describe('slots of checks', () => {
  const terms = (now = NOW) => ({ now, leaseSeconds: LEASE });

  it('are given up to the share of a tenant to concurrent requests, and to each tenant', async () => {
    const slots = await make();
    const [tenant, other] = [aTenant(), aTenant()];
    const taken = await Promise.all(Array.from({ length: 10 }, () => slots.take(tenant, terms())));
    const given = taken.filter((slot) => slot !== undefined);
    // A request that conflicts at each slot is refused, and is repeated.
    expect(given.length).toBeLessThanOrEqual(SHARE);
    while (given.length < SHARE) given.push((await slots.take(tenant, terms())) as CheckSlot);
    expect(new Set(given.map(({ lease }) => lease.token)).size).toBe(SHARE);

    expect(await slots.take(tenant, terms())).toBeUndefined();
    expect(await slots.take(other, terms())).toMatchObject({ tenant: other });
    expect(await slots.take({ ...tenant, generation: 1 }, terms())).toBeDefined();
  });

  it('can be taken again after a release, which frees no slot of another check', async () => {
    const slots = await make();
    const tenant = aTenant();
    const held: CheckSlot[] = [];
    for (let count = 0; count < SHARE; count += 1)
      held.push((await slots.take(tenant, terms())) as CheckSlot);
    const [first] = held as [CheckSlot];

    await slots.release(first);
    expect(await slots.take(tenant, terms())).toBeDefined();
    await slots.release(first);
    expect(await slots.take(tenant, terms())).toBeUndefined();
  });

  it('of lost workers are free when their leases have ended', async () => {
    const slots = await make();
    const tenant = aTenant();
    for (let count = 0; count < SHARE; count += 1) await slots.take(tenant, terms());

    expect(await slots.take(tenant, terms(later(NOW, seconds(LEASE) - 1)))).toBeUndefined();
    const after = later(NOW, seconds(LEASE));
    for (let count = 0; count < SHARE; count += 1)
      expect(await slots.take(tenant, terms(after))).toBeDefined();
    expect(await slots.take(tenant, terms(after))).toBeUndefined();
  });
});
