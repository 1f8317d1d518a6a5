import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PurgePorts } from '../../../functions/tenancy/purge.ts';
import { aTenant, later, NOW, seconds } from '../../builders.ts';
import { type Gate, interposed } from '../../doubles/interposed.ts';
import { aPurge, IN_FULL, LINGER, pages } from './purge-fixture.ts';

/**
 * Delay of an index in seconds. The last rows of a generation are written early enough for the index to have
 * them in time.
 */
const LAG = 60;
const RESET = [aTenant({ generation: 1 }), aTenant({ generation: 3 })];
/** The present generation of one of them, and a sandbox that was not reset. */
const KEPT = [{ ...aTenant(), ...RESET[0], generation: 2 }, aTenant({ generation: 1 })];

const rows = fc.array(
  fc.record({
    tenant: fc.nat({ max: RESET.length + KEPT.length - 1 }),
    table: fc.nat({ max: 2 }),
    addedAfter: fc.integer({ min: -600, max: LINGER - LAG }),
    lagMs: fc.integer({ min: 0, max: seconds(LAG) }),
  }),
  { maxLength: 60 },
);
/** The call at which each run is killed, before or after its effect, and the pages that it has time for. */
const kills = fc.array(
  fc.record({
    calls: fc.option(fc.nat({ max: 25 }), { nil: Number.POSITIVE_INFINITY }),
    stage: fc.constantFrom('calling' as const, 'answering' as const),
    time: fc.nat({ max: 10 }),
  }),
  { maxLength: 12 },
);

/** The ports of one run, whose calls all pass a gate. */
function gated({ purges, tables }: ReturnType<typeof aPurge>, gate: Gate): Partial<PurgePorts> {
  return {
    purges: interposed('purges', purges, gate),
    remains: tables.map((table) => interposed('remains', table, gate)),
  };
}

describe('purge runs', () => {
  it('delete exactly the reset generations, for any kill and any delay of the indexes', async () => {
    await fc.assert(
      fc.asyncProperty(rows, kills, async (all, killed) => {
        const setting = aPurge();
        const { clock, tables, order, orders, runWith, left } = setting;
        for (const { tenant, table, addedAfter, lagMs } of all) {
          const whose = [...RESET, ...KEPT][tenant];
          if (whose) tables[table]?.add(whose, { addedAt: later(NOW, seconds(addedAfter)), lagMs });
        }
        const kept = KEPT.map(left);
        for (const tenant of RESET) await order(tenant, NOW);

        // A killed run keeps its lease for 16 minutes.
        for (let minute = 0; minute < killed.length + 60 && (await orders()).length > 0; minute += 1) {
          clock.elapseUntil(later(NOW, seconds(minute * 60)));
          const kill = killed[minute] ?? { calls: Number.POSITIVE_INFINITY, stage: 'calling', time: 1_000 };
          let calls = 0;
          const gate: Gate = async (_call, stage) => {
            clock.elapse(0.05);
            if (stage === kill.stage) calls += 1;
            if (calls > kill.calls) throw new Error('the run was killed');
          };
          await runWith(gated(setting, gate))(pages(kill.time)).catch(() => undefined);
          if (clock.now() < later(NOW, seconds(LINGER))) expect(await orders()).toHaveLength(RESET.length);
        }

        expect(await orders()).toEqual([]);
        for (const tenant of RESET) expect(left(tenant)).toBe(0);
        expect(KEPT.map(left)).toEqual(kept);
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['share the work by their leases', 960, 1],
    ['do it twice at worst when a lease ran out', 0, 2],
  ])('that are concurrent %s', async (_what, leaseSeconds, most) => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 20 }), fc.scheduler(), async (count, scheduler) => {
        const setting = aPurge({ leaseSeconds });
        const { tables, order, orders, fill, settle, left, runWith } = setting;
        for (const tenant of RESET) {
          fill(tenant, count);
          await order(tenant, NOW);
        }
        settle();
        const gate: Gate = () => scheduler.schedule(Promise.resolve());
        const runs = Array.from({ length: 2 }, () => runWith(gated(setting, gate))(IN_FULL));

        await scheduler.waitFor(Promise.all(runs));

        expect(await orders()).toEqual([]);
        for (const tenant of RESET) expect(left(tenant)).toBe(0);
        for (const { deletions } of tables)
          for (const times of deletions.values()) expect(times).toBeLessThanOrEqual(most);
      }),
    );
  });
});
