import { createHash } from 'node:crypto';
import type { DeliveryId, ReceiverId } from '../../functions/aws/ids.ts';
import type { Lease } from '../../functions/aws/table.ts';
import { type Change, committer } from '../../functions/aws/transaction.ts';
import type { Delivery } from '../../functions/delivery/delivery.ts';
import type { LedgerEntry } from '../../functions/delivery/ledger.ts';
import type { Endpoint } from '../../functions/receivers/endpoint.ts';
import type { RedeliveryRun } from '../../functions/redelivery/jobs.ts';
import type { DueState } from '../../functions/tenancy/keys.ts';
import { buildTenantKey } from '../../functions/tenancy/keys.ts';
import { OF_SANDBOX_INDEX, type Purge } from '../../functions/tenancy/purge.ts';
import type { Tenant } from '../../functions/tenancy/tenant.ts';
import type { Row } from '../doubles/tables/expressions.ts';
import { MemoryTables, type Written } from '../doubles/tables/memory-tables.ts';
import { TABLE_DEFINITIONS, type TableName } from '../table-definitions.ts';
import type { Process } from './processes.ts';

/** Where a delivery is in the due index. */
export interface Due {
  state: DueState;
  dueAt: string;
}

type OpenPurge = Purge & { lease?: Lease };

interface TableTerms {
  nowMs(): number;
  /** How far the indexes are behind, in milliseconds. */
  lagMs: { ofSandbox(): number; due(): number };
  /** How old the result of the next eventually consistent read is, in milliseconds. */
  staleMs(): number;
  written(actor: Process | undefined, writes: readonly Written[]): void;
}

/**
 * The stack's tables in memory with their rows as witnesses see them, without delay and without faults. A row
 * has the attributes of what it stores, and is never changed but replaced.
 */
export class Tables {
  readonly memory: MemoryTables;
  readonly deliveries = new Map<DeliveryId, Delivery>();
  readonly due = new Map<DeliveryId, Due>();
  readonly endpoints = new Map<ReceiverId, Endpoint>();
  readonly purges = new Map<string, OpenPurge>();
  /** Running redelivery jobs. */
  readonly runs = new Map<string, RedeliveryRun>();
  readonly #commit: ReturnType<typeof committer>;
  /** The process whose request takes effect. Requests of the API have none. */
  #actor: Process | undefined;

  constructor({ nowMs, lagMs, staleMs, written }: TableTerms) {
    this.memory = new MemoryTables(TABLE_DEFINITIONS, {
      nowMs,
      lagMs: (_, index) => (index === OF_SANDBOX_INDEX ? lagMs.ofSandbox() : lagMs.due()),
      staleMs,
      pageBytes: Number.POSITIVE_INFINITY,
      written: (writes) => {
        for (const write of writes) this.#see(write);
        written(this.#actor, writes);
      },
    });
    this.#commit = committer(this.memory.client());
  }

  table(name: TableName) {
    return this.memory.table(name);
  }

  /** Runs the effect of a process's request. */
  by<T>(actor: Process, effect: () => T): T {
    this.#actor = actor;
    try {
      return effect();
    } finally {
      this.#actor = undefined;
    }
  }

  /**
   * Commits changes as a request of the API does, at once.
   * @returns whether they were not refused
   */
  commit(changes: readonly Change[]): Promise<boolean> {
    return this.#commit(changes).then(({ kind }) => kind === 'committed');
  }

  get ledger(): LedgerEntry[] {
    // The other rows say which endpoints have counts in a day.
    return this.memory.all('ledger').filter(({ hour }) => hour !== undefined) as unknown as LedgerEntry[];
  }

  purgeOf(tenant: Tenant): OpenPurge | undefined {
    return this.purges.get(buildTenantKey(tenant));
  }

  /** Whether a row of a sandbox's generation is left in a table. */
  hasRowsOf(table: TableName, tenant: Tenant): boolean {
    const ofSandbox = buildTenantKey(tenant);
    return this.memory.all(table).some((row) => row.ofSandbox === ofSandbox);
  }

  #see({ table, before, after }: Written): void {
    if (table === 'deliveries') this.#seeDelivery(before, after);
    if (table !== 'service') return;
    const { pk, sk } = (after ?? before ?? {}) as { pk: string; sk: string };
    const isPresent = after !== undefined;
    if (isReceiver(pk)) {
      if (isPresent) this.endpoints.set(sk as ReceiverId, after as unknown as Endpoint);
      else this.endpoints.delete(sk as ReceiverId);
    } else if (pk.startsWith('purges#')) {
      const [orgId, generation] = sk.split('#');
      const key = `${orgId}#${Number(generation)}`;
      if (isPresent) this.purges.set(key, after as unknown as OpenPurge);
      else this.purges.delete(key);
    } else if (pk.startsWith('redelivery-runs#')) {
      if (isPresent) this.runs.set(sk, after as unknown as RedeliveryRun);
      else this.runs.delete(sk);
    }
  }

  #seeDelivery(before: Row | undefined, after: Row | undefined): void {
    const id = (after ?? before)?.id as DeliveryId;
    if (after === undefined) this.deliveries.delete(id);
    else this.deliveries.set(id, after as unknown as Delivery);
    const due = dueOf(after);
    if (due === undefined) this.due.delete(id);
    else this.due.set(id, due);
  }
}

/** Whether a row is an endpoint or a channel. */
export const isReceiver = (pk: unknown): boolean => /#(?:webhooks|channels)$/.test(String(pk));

export function dueOf(row: Row | undefined): Due | undefined {
  if (row?.dueIn === undefined) return undefined;
  // The time is behind the organization, by which entries are read in turns.
  const [dueAt = ''] = String(row.dueKey).split('#').slice(-1);
  return { state: String(row.dueIn).split('#')[0] as DueState, dueAt };
}

/** The attribute in which an entry of the ledger has the position of a shard. */
export const positionOf = (shardId: string): string =>
  `to_${createHash('sha256').update(shardId).digest('base64url').slice(0, 8)}`;
