import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { METERED_TYPES, sumUsage } from '../../../functions/events/usage.ts';
import type { Permit } from '../../../functions/tenancy/gate.ts';
import { aCustomer, allOf, aMeteredEvent, countUntilDone, newUsages } from './usages.ts';

const make = newUsages();

const MONTHS = ['2026-09-30T23:59:59.999Z', '2026-10-01T00:00:00.000Z', '2026-11-20T09:30:00.000Z'];

/** Events and batches of them, in any order and with repetitions within and between batches. */
const runs = fc.record({
  shapes: fc.array(
    fc.record({ type: fc.constantFrom(...METERED_TYPES), createdAt: fc.constantFrom(...MONTHS) }),
    { minLength: 1, maxLength: 30 },
  ),
  batches: fc.array(fc.array(fc.nat(29), { maxLength: 40 }), { maxLength: 8 }),
});

describe('counted usage', () => {
  it('is in the UTC month in which each event happened', async () => {
    const usages = await make();
    const { orgId, permit } = await aCustomer();

    const left = await usages.count(
      [
        aMeteredEvent({ createdAt: '2026-10-31T23:59:59.999Z' }),
        aMeteredEvent({ createdAt: '2026-11-01T00:00:00.000Z' }),
        aMeteredEvent({ createdAt: '2026-11-01T00:00:00.000Z' }),
        aMeteredEvent({ type: 'conversation.created' }),
      ],
      permit,
    );

    expect(left).toEqual([]);
    expect(await allOf(usages, orgId)).toEqual({
      '2026-10': { conversations: 0, messages: 1 },
      '2026-11': { conversations: 1, messages: 2 },
    });
  });

  it('is read for the requested months, without those that have none', async () => {
    const usages = await make();
    const { orgId, permit } = await aCustomer();
    const events = ['2025-12', '2026-01', '2026-02', '2026-09', '2026-10'].map((month) =>
      aMeteredEvent({ createdAt: `${month}-15T00:00:00.000Z` }),
    );
    await usages.count(events, permit);

    const read = await usages.read(orgId, { from: '2026-01', to: '2026-09' });

    expect([...read.keys()].sort()).toEqual(['2026-01', '2026-02', '2026-09']);
    expect(await usages.read((await aCustomer()).orgId, { from: '2026-01', to: '2026-09' })).toEqual(
      new Map(),
    );
  });

  it('needs a permit of the gate', async () => {
    const usages = await make();
    const { orgId } = await aCustomer();

    await expect(usages.count([aMeteredEvent()], { orgId } as Permit)).rejects.toThrow('the gate');

    expect(await allOf(usages, orgId)).toEqual({});
  });

  it('has every event once for any batches, repetitions and orders', async () => {
    const usages = await make();
    await fc.assert(
      fc.asyncProperty(runs, async ({ shapes, batches }) => {
        const { orgId, permit } = await aCustomer();
        const events = shapes.map((shape) => aMeteredEvent(shape));
        // All at once; then the rest, as the queue would retry it.
        await Promise.all(
          batches.map((members) =>
            usages.count(
              members.flatMap((member) => events[member] ?? []),
              permit,
            ),
          ),
        );
        expect(await countUntilDone(usages, events, permit)).toEqual([]);

        expect(await allOf(usages, orgId)).toEqual(Object.fromEntries(sumUsage(events)));
      }),
      { numRuns: 30 },
    );
  });
});
