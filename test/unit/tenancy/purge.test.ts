import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { committer } from '../../../functions/aws/transaction.ts';
import {
  DEFAULT_LINGER_SECONDS,
  type PurgePorts,
  purgeSandboxes,
  purgeStore,
} from '../../../functions/tenancy/purge.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { aTenant, later, NOW, seconds } from '../../builders.ts';
import { rowsIn } from '../../contract/store/rows.ts';
import { type Gate, interposed } from '../../doubles/interposed.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';

const LINGER = DEFAULT_LINGER_SECONDS;
const LEASE = 960;
/** A run that has time for everything. */
const IN_FULL = () => true;
/** A run that has time for `count` pages. */
const pages = (count: number) => {
  let left = count;
  return () => {
    left -= 1;
    return left >= 0;
  };
};

interface Row {
  tenant: Tenant;
  addedAt: Date;
  /** When it was first deleted. */
  goneAt?: Date;
  /** Delay of the index for this row, in milliseconds. */
  lagMs: number;
}

/**
 * A table with rows of sandboxes, and the index that a purge reads. The index shows each change of a row
 * after a delay.
 */
class SandboxTable {
  readonly #now: () => Date;
  readonly #rows = new Map<string, Row>();
  /** How often each row was deleted. */
  readonly deletions = new Map<string, number>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  add(tenant: Tenant, { addedAt = NOW, lagMs = 0 }: Partial<Pick<Row, 'addedAt' | 'lagMs'>> = {}): void {
    this.#rows.set(`row-${this.#rows.size}`, { tenant, addedAt, lagMs });
  }

  /** The rows of a tenant that were not deleted. */
  left(tenant: Tenant): number {
    return [...this.#rows.values()].filter((row) => row.goneAt === undefined && belongsTo(row, tenant))
      .length;
  }

  readonly find = async (tenant: Tenant, limit: number): Promise<{ pk: string }[]> => {
    const now = this.#now();
    const shown = [...this.#rows].filter(
      ([, row]) =>
        belongsTo(row, tenant) &&
        later(row.addedAt, row.lagMs) <= now &&
        (row.goneAt === undefined || later(row.goneAt, row.lagMs) > now),
    );
    return shown.slice(0, limit).map(([pk]) => ({ pk }));
  };

  readonly remove = async (keys: readonly { pk: string }[]): Promise<void> => {
    for (const { pk } of keys) {
      const row = this.#rows.get(String(pk));
      if (row === undefined) throw new Error(`there was no row ${pk}`);
      row.goneAt ??= this.#now();
      this.deletions.set(String(pk), (this.deletions.get(String(pk)) ?? 0) + 1);
    }
  };
}

const belongsTo = ({ tenant }: Row, { orgId, generation }: Tenant): boolean =>
  tenant.orgId === orgId && tenant.generation === generation;

/** The purge worker over the real orders, and tables in memory. */
function aPurge({ tables: count = 3, leaseSeconds = LEASE } = {}) {
  const clock = new VirtualClock();
  const log = recordedLog();
  const { service } = memoryTables();
  const purges = purgeStore(service);
  const commit = committer(service.client);
  const tables = Array.from({ length: count }, () => new SandboxTable(clock.now));
  const runWith = (replaced: Partial<PurgePorts>) =>
    purgeSandboxes(
      { purges, remains: tables, log, now: clock.now, ...replaced },
      { lingerSeconds: LINGER, leaseSeconds },
    );
  return {
    clock,
    log,
    purges,
    tables,
    runWith,
    run: runWith({}),
    /** Resets a sandbox now. */
    order: (tenant: Tenant, requestedAt = clock.now()) =>
      commit([purges.order({ ...tenant, requestedAt: requestedAt.toISOString() })]),
    /** The stored orders. */
    orders: () => rowsIn(service),
    /** Counts the rows of a tenant that all tables still hold. */
    left: (tenant: Tenant): number => tables.reduce((sum, table) => sum + table.left(tenant), 0),
    fill(tenant: Tenant, rows: number): void {
      for (let row = 0; row < rows; row += 1) tables[row % tables.length]?.add(tenant);
    },
    settle: () => clock.elapseUntil(later(NOW, seconds(LINGER))),
  };
}

const resetTenant = aTenant({ generation: 1 });
const other = aTenant({ generation: 4 });

describe('purge', () => {
  it('logs once that a generation is deleted', async () => {
    const { run, order, settle, log } = aPurge();
    await order(resetTenant);
    await run(IN_FULL);
    expect(log.entries).toEqual([]);
    settle();

    await run(IN_FULL);
    await run(IN_FULL);

    expect(log.entries).toMatchObject([{ level: 'info', fields: resetTenant }]);
  });
});

describe('purge of a generation that may still be written to', () => {
  it('deletes nothing, takes no lease, and counts as open', async () => {
    const { run, order, orders, fill, left, clock, purges } = aPurge();
    fill(resetTenant, 3);
    await order(resetTenant);
    clock.elapse(LINGER - 0.001);
    const lease = vi.spyOn(purges, 'lease');

    expect(await run(IN_FULL)).toEqual({ deleted: 0, closed: 0, open: 1, oldestSeconds: LINGER - 0.001 });

    expect(lease).not.toHaveBeenCalled();
    expect(left(resetTenant)).toBe(3);
    expect(await orders()).toMatchObject([resetTenant]);
  });

  it('does not delay an older order', async () => {
    const { run, order, fill, left } = aPurge();
    for (const tenant of [resetTenant, other]) fill(tenant, 3);
    await order(resetTenant);
    await order(other, later(NOW, -seconds(LINGER)));

    expect(await run(IN_FULL)).toMatchObject({ deleted: 3, closed: 1, open: 1 });

    expect([left(resetTenant), left(other)]).toEqual([3, 0]);
  });
});

describe('purge run', () => {
  it.each([0, 1, 2, 5, 7])(
    'ends after %i pages when its time is up, and the next one continues',
    async (time) => {
      const { run, order, orders, fill, left, settle } = aPurge({ tables: 1 });
      fill(resetTenant, 2_000);
      await order(resetTenant);
      settle();

      const { deleted } = await run(pages(time));

      expect(deleted).toBeLessThanOrEqual(200 * time);
      expect(left(resetTenant)).toBe(2_000 - deleted);
      expect(await orders()).toEqual([expect.not.objectContaining({ lease: expect.anything() })]);
      expect(await run(IN_FULL)).toMatchObject({ deleted: 2_000 - deleted, closed: 1 });
    },
  );

  it('deletes a page of each order in turn, and reports the age of the oldest open one', async () => {
    const { run, order, fill, left, clock } = aPurge({ tables: 1 });
    fill(other, 600);
    fill(resetTenant, 200);
    await order(other, later(NOW, -seconds(300)));
    await order(resetTenant, later(NOW, -seconds(200)));
    clock.elapse(60);

    // One page for the orders, one of each for its rows, and one to find that there are no more.
    expect(await run(pages(3))).toEqual({ deleted: 600, closed: 1, open: 1, oldestSeconds: 360 });

    expect([left(other), left(resetTenant)]).toEqual([200, 0]);
  });

  it('leaves an order alone while another run has its lease', async () => {
    const { run, order, fill, left, clock, purges } = aPurge();
    fill(resetTenant, 5);
    await order(resetTenant);
    fill(other, 5);
    await order(other);
    const purge = (await purges.open()).find(({ orgId }) => orgId === resetTenant.orgId);
    if (purge === undefined) throw new Error('an order was to be open');
    await purges.lease(purge, LEASE, NOW);
    clock.elapse(LEASE - 1);

    expect(await run(IN_FULL)).toMatchObject({ deleted: 5, closed: 1, open: 1, oldestSeconds: LEASE - 1 });
    expect([left(resetTenant), left(other)]).toEqual([5, 0]);

    clock.elapse(1);
    expect(await run(IN_FULL)).toMatchObject({ deleted: 5, closed: 1, open: 0 });
  });
});

describe('purge order that cannot be read', () => {
  it('does not delay the others, and fails the run', async () => {
    const { runWith, fill, left, order, settle, purges, log } = aPurge();
    fill(resetTenant, 6);
    await order(resetTenant);
    settle();
    const broken = {
      ...purges,
      async open(report: Parameters<typeof purges.open>[0]) {
        report?.({ pk: 'purges#0', sk: 'org_x', error: new Error('no generation') });
        return purges.open();
      },
    };

    await expect(runWith({ purges: broken })(IN_FULL)).rejects.toThrow('no generation');

    expect(left(resetTenant)).toBe(0);
    expect(log.entries).toMatchObject([
      { code: 'DUE_ROW_UNREADABLE', fields: { pk: 'purges#0', sk: 'org_x' } },
      { code: 'GENERATION_WIPED' },
    ]);
  });
});

describe('failing purge', () => {
  it.each(['purges.lease', 'purges.progress', 'purges.close', 'remains.find', 'remains.remove'])(
    'that fails at %s delays no other, and continues in the next run',
    async (failing) => {
      const setting = aPurge();
      const { fill, order, orders, settle, run, runWith, left, log } = setting;
      for (const tenant of [resetTenant, other]) {
        fill(tenant, 6);
        await order(tenant);
      }
      settle();
      const error = new Error(`cannot ${failing}`);
      let hasFailed = false;
      const gate: Gate = async (call, stage) => {
        if (call !== failing || stage !== 'calling' || hasFailed) return;
        hasFailed = true;
        throw error;
      };

      expect(await runWith(gated(setting, gate))(IN_FULL)).toMatchObject({ closed: 1, open: 1 });

      const [open, ...more] = await orders();
      expect(more).toEqual([]);
      expect(left(open?.orgId === other.orgId ? resetTenant : other)).toBe(0);
      expect(log.entries.filter(({ level }) => level === 'error')).toMatchObject([
        { fields: { orgId: open?.orgId, error } },
      ]);
      expect(await run(IN_FULL)).toMatchObject({ closed: 1, open: 0 });
      expect([left(resetTenant), left(other)]).toEqual([0, 0]);
    },
  );

  it('that cannot read the orders fails the run', async () => {
    const { runWith, purges } = aPurge();
    const open = () => Promise.reject(new Error('the table is throttled'));
    await expect(runWith({ purges: { ...purges, open } })(IN_FULL)).rejects.toThrow('throttled');
  });
});

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
