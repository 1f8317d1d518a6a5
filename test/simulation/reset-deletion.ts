import type { DeliveryId, OrgId } from '../../functions/aws/ids.ts';
import { buildTenantKey } from '../../functions/tenancy/keys.ts';
import { DEFAULT_LINGER_SECONDS, isSettled } from '../../functions/tenancy/purge.ts';
import type { Tenant } from '../../functions/tenancy/tenant.ts';
import type { Row } from '../doubles/tables/expressions.ts';
import type { Process } from './processes.ts';
import type { PromiseName } from './promises.ts';
import type { WorldContext } from './world-context.ts';

/** The tables with rows of sandboxes. */
export const OF_SANDBOXES = ['outbox', 'deliveries', 'ledger', 'knowledge', 'service'] as const;

/** Checks the handling of data that resets have deleted. */
export class ResetDeletion {
  readonly #world: WorldContext;
  readonly #tell: (promise: PromiseName, detail: string) => void;
  /** Messages that a process began to process in their current generation, and how many of each. */
  readonly #begun = new Map<Process, Map<DeliveryId, number>>();
  readonly #closed = new Set<string>();

  constructor(world: WorldContext, tell: (promise: PromiseName, detail: string) => void) {
    this.#world = world;
    this.#tell = tell;
  }

  /**
   * A process begins to process a message.
   * @returns the function to call when it is done
   */
  begins(process: Process, { id, orgId, generation }: Tenant & { id: DeliveryId }): () => void {
    if (this.#world.organizations.isOver({ orgId, generation })) {
      this.#world.statistics.count('messages of deleted data');
      return () => undefined;
    }
    const own = this.#begun.get(process) ?? new Map<DeliveryId, number>();
    this.#begun.set(process, own.set(id, (own.get(id) ?? 0) + 1));
    return () => void own.set(id, (own.get(id) ?? 1) - 1);
  }

  /** A dispatcher changes a delivery. Work that started after the reset must not touch deleted deliveries. */
  moves(process: Process, what: string, delivery: (Tenant & { id: DeliveryId }) | undefined): void {
    if (delivery === undefined || !this.#world.organizations.isOver(delivery)) return;
    if ((this.#begun.get(process)?.get(delivery.id) ?? 0) > 0) {
      this.#world.statistics.count(`deleted while in progress: ${what}`);
      return;
    }
    this.#tell(
      'no work after a reset',
      `${process.name} ${what} ${delivery.id}, which was deleted before it began`,
    );
  }

  /**
   * A dispatcher reads the context of deliveries. It must not do so for those that were deleted before their
   * batch began.
   */
  reads(process: Process, deliveries: readonly (Tenant & { id: DeliveryId })[]): void {
    for (const delivery of deliveries) this.moves(process, 'reads for', delivery);
  }

  /**
   * A run of the purge reads the rows of a generation. Until its linger time is over, functions may still
   * read and write them. The run judges that once for each order, and its clock may step back afterwards.
   */
  purges(process: Process, tenantKey: string): void {
    const order = this.#world.tables.purges.get(tenantKey);
    const shown = new Date(process.latestShownMs);
    if (order !== undefined && !isSettled(order, shown, DEFAULT_LINGER_SECONDS))
      this.#tell('complete purge', `${process.name} purges ${tenantKey} before its linger time is over`);
  }

  /** An invoked function writes data of a tenant. */
  writes(process: Process, what: string, tenant: Tenant): void {
    const { organizations, statistics } = this.#world;
    if (!organizations.isOver(tenant)) return;
    if (process.startedMs > organizations.deletedMs(tenant))
      this.#tell(
        'no work after a reset',
        `${process.name} ${what} of ${buildTenantKey(tenant)} although it was deleted`,
      );
    else statistics.count(`deleted while in progress: ${what}`);
  }

  /** A request has written a row. */
  written(actor: Process | undefined, table: string, before: Row | undefined, after: Row | undefined): void {
    const { organizations, statistics, faults } = this.#world;
    const row = after ?? before;
    const isPurge = table === 'service' && String(row?.pk).startsWith('purges#');
    if (isPurge && row !== undefined) this.#ordered(tenantOfMark(String(row.sk)), before, after);
    if (row?.ofSandbox === undefined) return;
    const tenant = tenantOfMark(String(row.ofSandbox));
    const isOver = organizations.isOver(tenant);
    if (table === 'ledger' && after !== undefined && actor?.kind === 'delivery-stream')
      this.writes(actor, 'counts a change', tenant);
    if (before === undefined) {
      if (isOver) statistics.count('rows added after their reset');
      if (this.#closed.has(buildTenantKey(tenant)) && !faults.beyondMargin)
        this.#tell('complete purge', `the ${table} got a row of ${buildTenantKey(tenant)} after its purge`);
    } else if (after === undefined && actor?.kind === 'purge') {
      statistics.count('rows purged');
      if (!isOver)
        this.#tell('nothing else is purged', `a row of ${buildTenantKey(tenant)} was purged from ${table}`);
    }
  }

  /** An order to purge was written: it may not come back, and when it is closed no row may be left. */
  #ordered(tenant: Tenant, before: Row | undefined, after: Row | undefined): void {
    const { tables, faults, statistics } = this.#world;
    const key = buildTenantKey(tenant);
    if (before === undefined && this.#closed.has(key))
      this.#tell('complete purge', `the purge of ${key} is back after it was closed`);
    if (before === undefined || after !== undefined) return;
    statistics.count('purges closed');
    this.#closed.add(key);
    for (const name of OF_SANDBOXES)
      if (!faults.beyondMargin && tables.hasRowsOf(name, tenant))
        this.#tell('complete purge', `the purge of ${key} left rows in the ${name}`);
  }

  /** A request of an organization reaches a receiver of the world, or a simulated one. */
  sends(orgId: OrgId, to: 'the world' | 'a simulated receiver'): void {
    if (this.#world.organizations.isSandbox(orgId) === (to === 'a simulated receiver')) return;
    this.#tell('the sandbox is closed', `a request of ${orgId} reached ${to}`);
  }
}

const tenantOfMark = (mark: string): Tenant => {
  const [orgId, generation] = mark.split('#');
  return { orgId: orgId as OrgId, generation: Number(generation) };
};
