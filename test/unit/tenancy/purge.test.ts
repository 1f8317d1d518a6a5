import { describe, expect, it, vi } from 'vitest';
import { aTenant, later, NOW, seconds } from '../../builders.ts';
import { aPurge, IN_FULL, LEASE, LINGER, pages } from './purge-fixture.ts';

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
  /** Two orders. One of them fails at the given call. */
  async function withBroken(what: 'find' | 'remove' | 'lease' | 'progress' | 'close') {
    const setting = aPurge();
    const { fill, order, settle, purges, tables, runWith } = setting;
    for (const tenant of [resetTenant, other]) {
      fill(tenant, 6);
      await order(tenant);
    }
    settle();
    const fail = async () => {
      throw new Error(`cannot ${what}`);
    };
    const isReset = ({ orgId }: { orgId: string }) => orgId === resetTenant.orgId;
    const pagesOfReset = new Set<unknown>();
    const broken = {
      purges: {
        ...purges,
        lease: (...asked: Parameters<typeof purges.lease>) =>
          what === 'lease' && isReset(asked[0]) ? fail() : purges.lease(...asked),
        progress: (...asked: Parameters<typeof purges.progress>) =>
          what === 'progress' && isReset(asked[0]) ? fail() : purges.progress(...asked),
        close: (...asked: Parameters<typeof purges.close>) =>
          what === 'close' && isReset(asked[0]) ? fail() : purges.close(...asked),
      },
      remains: tables.map((table) => ({
        async find(...asked: Parameters<typeof table.find>) {
          if (what === 'find' && isReset(asked[0])) return fail();
          const page = await table.find(...asked);
          if (isReset(asked[0])) pagesOfReset.add(page);
          return page;
        },
        remove: (...asked: Parameters<typeof table.remove>) =>
          what === 'remove' && pagesOfReset.has(asked[0]) ? fail() : table.remove(...asked),
      })),
    };
    return { ...setting, runBroken: runWith(broken) };
  }

  it.each(['find', 'remove', 'lease', 'progress', 'close'] as const)(
    'that cannot %s delays no other, and continues in the next run',
    async (what) => {
      const { runBroken, run, left, log, orders } = await withBroken(what);

      expect(await runBroken(IN_FULL)).toMatchObject({ closed: 1, open: 1 });

      expect(left(other)).toBe(0);
      expect(await orders()).toMatchObject([resetTenant]);
      expect(log.entries.filter(({ level }) => level === 'error')).toMatchObject([
        { fields: { ...resetTenant, error: new Error(`cannot ${what}`) } },
      ]);
      expect(await run(IN_FULL)).toMatchObject({ closed: 1, open: 0 });
      expect(left(resetTenant)).toBe(0);
    },
  );

  it('that cannot read the orders fails the run', async () => {
    const { runWith, purges } = aPurge();
    const open = () => Promise.reject(new Error('the table is throttled'));
    await expect(runWith({ purges: { ...purges, open } })(IN_FULL)).rejects.toThrow('throttled');
  });
});
