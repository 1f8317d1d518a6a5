import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { put } from '../../../functions/aws/table.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { idempotencyStore } from '../../../functions/http/idempotency.ts';
import { aTenant, later, NOW } from '../../builders.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';

const DAY = 86_400_000;
const scope = { tenant: aTenant(), route: 'create-thing', key: randomUUID() };
const answer = { fingerprint: 'f', status: 201, location: '/things/1', data: '{"name":"x"}' };

/** A store with one answer. */
async function aStore(at: Date) {
  const { service } = memoryTables();
  const store = idempotencyStore(service);
  const commit = committer(service.client);
  await commit([store.record(scope, answer, at)]);
  return { store, commit, service };
}

describe('stored idempotent answer', () => {
  it('is found again', async () => {
    const { store } = await aStore(NOW);
    expect(await store.find(scope, later(NOW, 1))).toEqual(answer);
    expect(await store.find({ ...scope, key: randomUUID() }, NOW)).toBeUndefined();
  });

  it('is found for 24 hours and not a second longer, although its row may stay for days', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 999 }), fc.nat({ max: 2 * DAY }), async (millisecond, age) => {
        const made = later(NOW, millisecond);
        const { store } = await aStore(made);
        const isFound = (await store.find(scope, later(made, age))) !== undefined;
        if (age < DAY) expect(isFound).toBe(true);
        if (age >= DAY + 1000) expect(isFound).toBe(false);
      }),
    );
  });

  it('is replaced exactly when it is no longer found', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: DAY - 2_000, max: DAY + 2_000 }), async (age) => {
        const { store, commit } = await aStore(NOW);
        const now = later(NOW, age);
        const isFound = (await store.find(scope, now)) !== undefined;
        expect(await commit([store.record(scope, answer, now)])).toEqual(
          isFound ? { kind: 'refused', refusal: 'idempotency-key-used' } : { kind: 'committed' },
        );
      }),
      { numRuns: 500 },
    );
  });

  it('fails to parse when the row has another form', async () => {
    const { store, service } = await aStore(NOW);
    await put(service, { ...store.record(scope, answer, NOW).write.Put?.Item, data: 7 });
    await expect(store.find(scope, NOW)).rejects.toThrow();
  });
});
