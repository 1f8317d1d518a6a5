import { mapConcurrently } from '../aws/concurrency.ts';
import type { Log } from '../aws/log-codes.ts';
import type { UnreadableRow } from '../aws/table.ts';
import type { hasRows, purgeStore } from './purges.ts';
import { isSettled, type Purge } from './sandbox.ts';
import { sweep, takeTurns } from './sweep.ts';

export interface PurgePorts {
  purges: Omit<ReturnType<typeof purgeStore>, 'order' | 'of'>;
  /** One per table with rows of sandboxes. */
  remains: readonly ReturnType<typeof hasRows>[];
  log: Log;
  now: () => Date;
}

export interface PurgeSettings {
  /** Seconds after a reset in which older functions may still use the older generation. */
  lingerSeconds: number;
  /** Longer than a run. */
  leaseSeconds: number;
}

export interface PurgeResult {
  deleted: number;
  closed: number;
  /** Purges that are not complete. */
  open: number;
  /** Age of the oldest one in seconds. */
  oldestSeconds: number;
}

/** Rows deleted in one turn of an order, and orders processed at once. */
const PAGE = 200;
const ORDERS_AT_ONCE = 4;

/** An order, and the first table that may have rows for it. */
interface Work {
  order: Purge;
  table: number;
}

/**
 * Deletes the rows that resets left behind after their linger time, page by page in turns by organization. A
 * run can end anywhere, and the next one continues. Repeated deletions are harmless; the lease only saves
 * work.
 */
export function purgeSandboxes(
  { purges, remains, log, now }: PurgePorts,
  { lingerSeconds, leaseSeconds }: PurgeSettings,
) {
  /** @throws as `sweep` */
  return async (hasTime: () => boolean): Promise<PurgeResult> => {
    const done = { deleted: 0, closed: 0 };
    let open = new Set<Purge>();
    const leased = new Set<Purge>();

    /** Leases an order unless another run has it. */
    async function lease(order: Purge): Promise<boolean> {
      if (leased.has(order)) return true;
      const until = new Date(now().getTime() + leaseSeconds * 1000);
      if (!(await purges.lease(order, until, now()))) return false;
      leased.add(order);
      return true;
    }

    async function release(order: Purge): Promise<void> {
      if (leased.delete(order)) await purges.release(order);
    }

    /** @returns where the order continues; undefined when it is complete, or another run has it */
    async function deletePage({ order, table }: Work): Promise<Work | undefined> {
      if (!(await lease(order))) return undefined;
      for (const rows of remains.slice(table)) {
        const page = await rows.find(order, PAGE);
        if (page.length === 0) continue;
        await rows.remove(page);
        done.deleted += page.length;
        await purges.progress(order, page.length);
        return { order, table: remains.indexOf(rows) };
      }
      await purges.close(order);
      leased.delete(order);
      open.delete(order);
      done.closed += 1;
      log('GENERATION_WIPED', { orgId: order.orgId, generation: order.generation });
      return undefined;
    }

    async function handleOrder(work: Work): Promise<Work[]> {
      const { orgId, generation } = work.order;
      try {
        const rest = await deletePage(work);
        return rest === undefined ? [] : [rest];
      } catch (error) {
        log('PURGE_FAILED', { orgId, generation, error });
        // The lease would block the next runs for longer than the failure may last.
        await release(work.order).catch((failure: unknown) =>
          log('PURGE_FAILED', { orgId, generation, error: failure }),
        );
        return [];
      }
    }

    const takeOrders = takeTurns<Work, never>({
      partitions: 1,
      async find() {
        const unreadable: UnreadableRow[] = [];
        open = new Set(await purges.open((row) => unreadable.push(row)));
        // Older functions may still write rows of the others. A later run deletes them.
        const settled = [...open].filter((order) => isSettled(order, now(), lingerSeconds));
        return { entries: settled.map((order) => ({ order, table: 0 })), unreadable };
      },
      getOrganization: ({ order }) => order.orgId,
      handle: async (works) => (await mapConcurrently(works, ORDERS_AT_ONCE, handleOrder)).flat(),
      logUnread: (_, error) => log('PURGE_FAILED', { error }),
      perRound: ORDERS_AT_ONCE,
    });
    try {
      await sweep([takeOrders], { now: now(), hasTime, log });
    } finally {
      for (const order of leased) await release(order);
    }
    const [oldest] = open;
    const oldestSeconds =
      oldest === undefined ? 0 : (now().getTime() - new Date(oldest.requestedAt).getTime()) / 1000;
    return { ...done, open: open.size, oldestSeconds };
  };
}
