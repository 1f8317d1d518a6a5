import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { keys, PURGE_SHARDS } from '../../../functions/tenancy/keys.ts';
import { type Purge, purgeStore } from '../../../functions/tenancy/purge.ts';
import { aSandboxTenant, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { readInPagesOf } from './faults.ts';

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

  it('comes before all later ones', async () => {
    const orders = await setUp();
    const [last, first, second] = [
      await given(orders, { requestedAt: at(9) }),
      await given(orders, { requestedAt: at(1) }),
      await given(orders, { requestedAt: at(5) }),
    ];

    expect(await orders.open()).toEqual([first, second, last]);
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
