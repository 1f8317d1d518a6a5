import { all, expression } from '../aws/expression.ts';
import type { OrgId } from '../aws/ids.ts';
import {
  EXISTS,
  type Key,
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
import { OF_SANDBOX_INDEX, Purge } from './sandbox.ts';
import type { Tenant } from './tenant.ts';

/** Orders to delete the rows of earlier sandbox generations. */
export function purgeStore(service: Table) {
  const buildKey = ({ orgId, generation }: Tenant) => keys.purge({ orgId, generation });

  async function list(pk: string, report: (row: UnreadableRow) => void, prefix?: OrgId): Promise<Purge[]> {
    const isOfPrefix = prefix === undefined ? undefined : expression`begins_with(sk, ${prefix})`;
    const rows = await queryAll(service, { where: all(expression`pk = ${pk}`, isOfPrefix) });
    return readRows({ reportUnreadable: report }, rows, (row) => Purge.parse(row));
  }

  return {
    /** Orders a purge, in the transaction that resets the sandbox. */
    order(purge: Tenant & { requestedAt: string }): Change {
      return buildAddition(service, { ...buildKey(purge), ...purge, deleted: 0 });
    },

    /**
     * Purges that are not complete, oldest first.
     * @param report receives unreadable orders; by default the table's `reportUnreadable`
     */
    async open(
      report: (row: UnreadableRow) => void = service.reportUnreadable ?? throwUnreadable,
    ): Promise<Purge[]> {
      const found = await Promise.all(
        listShards(PURGE_SHARDS).map((shard) => list(keys.purges(shard), report)),
      );
      return found.flat().sort((a, b) => a.requestedAt.localeCompare(b.requestedAt));
    },

    /** Incomplete purges of one sandbox. */
    of(orgId: OrgId): Promise<Purge[]> {
      return list(keys.purgesOf(orgId), throwUnreadable, orgId);
    },

    /**
     * Leases a purge, so that two runs do not process it at the same time.
     * @returns false when another run has it or it is complete
     */
    async lease(purge: Purge, until: Date, now: Date): Promise<boolean> {
      const isFree = expression`(attribute_not_exists(leasedUntil) OR leasedUntil <= ${now.toISOString()})`;
      const { kind } = await update(service, buildKey(purge), {
        update: expression`SET leasedUntil = ${until.toISOString()}`,
        if: all(EXISTS, isFree),
      });
      return kind === 'done';
    },

    async release(purge: Purge): Promise<void> {
      await update(service, buildKey(purge), { update: expression`REMOVE leasedUntil`, if: EXISTS });
    },

    async progress(purge: Purge, deleted: number): Promise<void> {
      // Do not recreate a purge that another run has closed.
      await update(service, buildKey(purge), { update: expression`ADD deleted ${deleted}`, if: EXISTS });
    },

    async close(purge: Purge): Promise<void> {
      await remove(service, buildKey(purge));
    },
  };
}

/** Rows of a sandbox's generation in one table. */
export const hasRows = (table: Table) => ({
  /** Keys of up to `limit` rows, from the index, which is eventually consistent. */
  async find(tenant: Tenant, limit: number): Promise<Key[]> {
    const where = expression`ofSandbox = ${buildTenantKey(tenant)}`;
    const { rows } = await query(table, { index: OF_SANDBOX_INDEX, where, limit });
    return rows.map(({ ofSandbox: _, ...key }) => key as unknown as Key);
  },

  /** @throws Throttled when DynamoDB does not delete all of them */
  remove: (rows: readonly Key[]): Promise<void> => removeMany(table, rows),
});
