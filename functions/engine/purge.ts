import type { UnreadableRow } from '../domain/due.ts';
import { isSettled, type Purge } from '../domain/sandbox.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Log } from '../platform/log-codes.ts';
import { reportUnreadableRow } from './due-pages.ts';

type RowKey = Record<string, unknown>;

export interface PurgePorts {
  purges: {
    /** @param reportRow called for each unreadable order */
    open(reportRow?: (row: UnreadableRow) => void): Promise<Purge[]>;
    lease(purge: Purge, until: Date, now: Date): Promise<boolean>;
    release(purge: Purge): Promise<void>;
    progress(purge: Purge, deleted: number): Promise<void>;
    close(purge: Purge): Promise<void>;
  };
  /** One per table with rows of sandboxes. */
  remains: readonly {
    find(tenant: Tenant, limit: number): Promise<RowKey[]>;
    remove(rows: readonly RowKey[]): Promise<void>;
  }[];
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

/** Rows deleted between two checks of the remaining time. */
const PAGE = 200;

/**
 * Deletes the rows that resets left behind after their linger time, oldest first, page by page. A run can end
 * anywhere, and the next one continues. Repeated deletions are harmless; the lease only saves work.
 */
export function purgeSandboxes(
  { purges, remains, log, now }: PurgePorts,
  { lingerSeconds, leaseSeconds }: PurgeSettings,
) {
  /** @returns whether all tables were empty */
  async function deleteRows(
    order: Purge,
    hasTime: () => boolean,
    onDeleted: (rows: number) => void,
  ): Promise<boolean> {
    for (const rows of remains) {
      for (;;) {
        if (!hasTime()) return false;
        const page = await rows.find(order, PAGE);
        if (page.length === 0) break;
        await rows.remove(page);
        onDeleted(page.length);
        await purges.progress(order, page.length);
      }
    }
    return true;
  }

  /**
   * Continues an order unless another run does.
   * @returns whether it is complete
   */
  async function handle(
    order: Purge,
    hasTime: () => boolean,
    onDeleted: (rows: number) => void,
  ): Promise<boolean> {
    const begunAt = now();
    if (!(await purges.lease(order, new Date(begunAt.getTime() + leaseSeconds * 1000), begunAt)))
      return false;
    try {
      const isComplete = await deleteRows(order, hasTime, onDeleted);
      await (isComplete ? purges.close(order) : purges.release(order));
      return isComplete;
    } catch (error) {
      // The lease would block the next runs for longer than the failure may last.
      await purges.release(order);
      throw error;
    }
  }

  /**
   * @param hasTime whether there is time for another page
   * @throws the first read error, after the other orders were processed
   */
  return async (hasTime: () => boolean): Promise<PurgeResult> => {
    const done = { deleted: 0, closed: 0 };
    const failures: unknown[] = [];
    const orders = await purges.open(reportUnreadableRow(log, failures));
    const open = new Set(orders);
    for (const order of orders) {
      if (!hasTime()) break;
      // Older functions may still write rows. A later run deletes them.
      if (!isSettled(order, now(), lingerSeconds)) continue;
      const { orgId, generation } = order;
      try {
        const isComplete = await handle(order, hasTime, (rows) => {
          done.deleted += rows;
        });
        if (!isComplete) continue;
        open.delete(order);
        done.closed += 1;
        log('GENERATION_WIPED', { orgId, generation });
      } catch (error) {
        log('PURGE_FAILED', { orgId, generation, error });
      }
    }
    if (failures.length > 0) throw failures[0];
    const [oldest] = open;
    const oldestSeconds =
      oldest === undefined ? 0 : (now().getTime() - new Date(oldest.requestedAt).getTime()) / 1000;
    return { ...done, open: open.size, oldestSeconds };
  };
}
