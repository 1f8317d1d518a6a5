import * as z from 'zod/mini';
import { mapConcurrently } from '../aws/concurrency.ts';
import { all, expression } from '../aws/expression.ts';
import { ConversationId, ErasureId, OrgId, Timestamp } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import {
  EXISTS,
  type Key,
  lease,
  query,
  queryAll,
  readRows,
  remove,
  removeMany,
  type Table,
  throwUnreadable,
  type UnreadableRow,
  update,
} from '../aws/table.ts';
import { buildAddition, type Change } from '../aws/transaction.ts';
import { buildTenantKey, keys, listShards, PURGE_SHARDS } from './keys.ts';
import { processInRounds, sweep } from './sweep.ts';
import type { Tenant } from './tenant.ts';

/** Index, in every table, of the rows of sandboxes. */
export const OF_SANDBOX_INDEX = 'of-sandbox';

/**
 * Seconds after a reset in which functions that began before may still use the older generation: longer than
 * the timeout of any function that adds rows, and than an index lags behind its table.
 */
export const DEFAULT_LINGER_SECONDS = 120;

/** The order to delete the rows of a generation (of a reset) or of conversations (of an erasure). */
export const Purge = z.object({
  orgId: OrgId,
  generation: z.int(),
  erasureId: z.optional(ErasureId),
  conversationIds: z.optional(z.array(ConversationId)),
  requestedAt: Timestamp,
  deleted: z._default(z.int(), 0),
});
export type Purge = z.infer<typeof Purge>;

/**
 * Whether no function uses the generation any more, so that the purge can begin and an empty index means that
 * it is complete.
 */
export const isSettled = ({ requestedAt }: Purge, now: Date, lingerSeconds: number): boolean =>
  now.getTime() - new Date(requestedAt).getTime() >= lingerSeconds * 1000;

/** Orders to delete the rows of earlier sandbox generations and of erased conversations. */
export function purgeStore(service: Table) {
  async function list(pk: string, report: (row: UnreadableRow) => void, prefix?: OrgId): Promise<Purge[]> {
    const isOfPrefix = prefix === undefined ? undefined : expression`begins_with(sk, ${prefix})`;
    const rows = await queryAll(service, { where: all(expression`pk = ${pk}`, isOfPrefix) });
    return readRows({ reportUnreadable: report }, rows, (row) => Purge.parse(row));
  }

  return {
    /** Orders a purge, in the transaction that resets the sandbox or erases conversations. */
    order(purge: Omit<Purge, 'deleted'>): Change {
      return buildAddition(service, { ...keys.purge(purge), ...purge, deleted: 0 });
    },

    /**
     * Purges that are not complete, oldest first.
     * @param report receives unreadable orders; by default the table's `reportUnreadable`
     */
    async open(
      report: (row: UnreadableRow) => void = service.reportUnreadable ?? throwUnreadable,
    ): Promise<Purge[]> {
      const purges = await Promise.all(
        listShards(PURGE_SHARDS).map((shard) => list(keys.purges(shard), report)),
      );
      return purges.flat().sort((a, b) => a.requestedAt.localeCompare(b.requestedAt));
    },

    /** Incomplete purges of the generations of one sandbox. */
    async of(orgId: OrgId): Promise<Purge[]> {
      const purges = await list(keys.purgesOf(orgId), throwUnreadable, orgId);
      return purges.filter(({ erasureId }) => erasureId === undefined);
    },

    /**
     * Leases a purge, so that two runs do not process it at the same time.
     * @returns false when another run has it or it is complete
     */
    async lease(purge: Purge, seconds: number, now: Date): Promise<boolean> {
      const { kind } = await lease(service, keys.purge(purge), { now, seconds, if: EXISTS });
      return kind === 'leased';
    },

    async release(purge: Purge): Promise<void> {
      await update(service, keys.purge(purge), { update: expression`REMOVE lease`, if: EXISTS });
    },

    async progress(purge: Purge, deleted: number): Promise<void> {
      // Do not recreate a purge that another run has closed.
      await update(service, keys.purge(purge), { update: expression`ADD deleted ${deleted}`, if: EXISTS });
    },

    async close(purge: Purge, now: Date): Promise<void> {
      const { erasureId } = purge;
      if (erasureId !== undefined)
        await update(service, keys.erasure(purge, erasureId), {
          update: expression`SET completedAt = ${now.toISOString()}`,
          // A reset may have deleted the receipt.
          if: EXISTS,
        });
      await remove(service, keys.purge(purge));
    },
  };
}

/** What an order deletes, page by page. */
export interface Remains {
  /** Keys of up to `limit` rows; none for an order of the other kind, and at the end. */
  find(order: Purge, limit: number): Promise<Key[]>;
  /** Deletes rows with what only they name; repeated after a crash. */
  remove(rows: readonly Key[], order: Purge): Promise<void>;
}

/** Rows of a sandbox's generation in one table. */
export const sandboxRows = (table: Table) => ({
  /** Keys of up to `limit` rows, from the index, which is eventually consistent. */
  async find({ erasureId, ...tenant }: Tenant & Pick<Purge, 'erasureId'>, limit: number): Promise<Key[]> {
    if (erasureId !== undefined) return [];
    const where = expression`ofSandbox = ${buildTenantKey(tenant)}`;
    const { rows } = await query(table, { index: OF_SANDBOX_INDEX, where, limit });
    return rows.map(({ ofSandbox: _, ...key }) => key as unknown as Key);
  },

  /** @throws Throttled when DynamoDB does not delete all of them */
  remove: (rows: readonly Key[]): Promise<void> => removeMany(table, rows),
});

export interface PurgePorts {
  purges: Omit<ReturnType<typeof purgeStore>, 'order' | 'of'>;
  /** One per table with rows of sandboxes, and what belongs to erased conversations. */
  remains: readonly Remains[];
  log: Log;
  now: () => Date;
}

/** Rows deleted in one turn of an order, and orders processed at once. */
const PAGE = 200;
const ORDERS_AT_ONCE = 4;

/** An order, and the first of its remains that may have rows. */
type Work = { order: Purge; table: number };

/**
 * Deletes the rows that resets and erasures left behind after their linger time, page by page in turns by
 * organization. A run can end anywhere, and the next one continues. Repeated deletions are harmless; the
 * lease only saves work.
 * @param settings.lingerSeconds after a reset, in which functions may still use the older generation
 * @param settings.leaseSeconds longer than a run
 */
export function purgeSandboxes(
  { purges, remains, log, now }: PurgePorts,
  { lingerSeconds, leaseSeconds }: { lingerSeconds: number; leaseSeconds: number },
) {
  /**
   * @returns counts, where `open` are incomplete, and the age of the oldest of them in seconds
   * @throws as `sweep`
   */
  return async (hasTime: () => boolean) => {
    const done = { deleted: 0, closed: 0 };
    let open = new Set<Purge>();
    const leased = new Set<Purge>();

    /** Leases an order unless another run has it. */
    async function take(order: Purge): Promise<boolean> {
      if (leased.has(order)) return true;
      if (!(await purges.lease(order, leaseSeconds, now()))) return false;
      leased.add(order);
      return true;
    }

    async function release(order: Purge): Promise<void> {
      if (leased.delete(order)) await purges.release(order);
    }

    /** @returns where the order continues; undefined when it is complete, or another run has it */
    async function deletePage({ order, table }: Work): Promise<Work | undefined> {
      if (!(await take(order))) return undefined;
      for (const rows of remains.slice(table)) {
        const page = await rows.find(order, PAGE);
        if (page.length === 0) continue;
        await rows.remove(page, order);
        done.deleted += page.length;
        await purges.progress(order, page.length);
        return { order, table: remains.indexOf(rows) };
      }
      await purges.close(order, now());
      leased.delete(order);
      open.delete(order);
      done.closed += 1;
      const { orgId, generation, erasureId } = order;
      if (erasureId === undefined) log('GENERATION_WIPED', { orgId, generation });
      else log('CONVERSATIONS_ERASED', { orgId, erasureId });
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

    const takeOrders = processInRounds<Work, never>({
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
