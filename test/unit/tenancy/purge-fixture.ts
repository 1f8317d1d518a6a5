import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import {
  DEFAULT_LINGER_SECONDS,
  type PurgePorts,
  purgeSandboxes,
  purgeStore,
} from '../../../functions/tenancy/purge.ts';
import type { Tenant } from '../../../functions/tenancy/tenant.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { rowsIn } from '../../contract/store/rows.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';

export const LINGER = DEFAULT_LINGER_SECONDS;
export const LEASE = 960;
/** A run that has time for everything. */
export const IN_FULL = () => true;
/** A run that has time for `count` pages. */
export const pages = (count: number) => {
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
export function aPurge({ tables: count = 3, leaseSeconds = LEASE } = {}) {
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
