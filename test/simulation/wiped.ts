import type { DeliveryId, OrgId } from '../../functions/domain/ids.ts';
import { DEFAULT_LINGER_SECONDS, isSettled } from '../../functions/domain/sandbox.ts';
import type { Tenant } from '../../functions/domain/tenant.ts';
import { buildTenantKey } from '../../functions/store/keys.ts';
import type { Process } from './processes.ts';
import type { PromiseName } from './promises.ts';
import type { SandboxTables } from './sandbox-tables.ts';
import type { Surroundings } from './surroundings.ts';

type World = Surroundings & { readonly sandboxTables: Pick<SandboxTables, 'all'> };

/** Sees what is done about data that resets have wiped. */
export class Wiped {
  readonly #world: World;
  readonly #tell: (promise: PromiseName, detail: string) => void;
  /** Messages that a process began to deal with while their data counted, and how many of each. */
  readonly #begun = new Map<Process, Map<DeliveryId, number>>();
  readonly #closed = new Set<string>();

  constructor(world: World, tell: (promise: PromiseName, detail: string) => void) {
    this.#world = world;
    this.#tell = tell;
  }

  /** A process begins to deal with a message. @returns what to call when it is done */
  begins(process: Process, { id, orgId, generation }: Tenant & { id: DeliveryId }): () => void {
    if (this.#world.organizations.isOver({ orgId, generation })) {
      this.#world.statistics.count('messages of wiped data');
      return () => undefined;
    }
    const own = this.#begun.get(process) ?? new Map<DeliveryId, number>();
    this.#begun.set(process, own.set(id, (own.get(id) ?? 0) + 1));
    return () => void own.set(id, (own.get(id) ?? 1) - 1);
  }

  /** A dispatcher moves a delivery. What began after the reset has nothing to do with what it wiped. */
  moves(process: Process, what: string, delivery: (Tenant & { id: DeliveryId }) | undefined): void {
    if (delivery === undefined || !this.#world.organizations.isOver(delivery)) return;
    if ((this.#begun.get(process)?.get(delivery.id) ?? 0) > 0) {
      this.#world.statistics.count(`wiped while under way: ${what}`);
      return;
    }
    this.#tell('wiped is over', `${process.name} ${what} ${delivery.id}, which was wiped before it began`);
  }

  /**
   * A dispatcher reads what deliveries need. Those whose data was wiped before their batch began need
   * nothing.
   */
  reads(process: Process, deliveries: readonly (Tenant & { id: DeliveryId })[]): void {
    for (const delivery of deliveries) this.moves(process, 'reads for', delivery);
  }

  /**
   * A run of the purge looks for the rows of a generation. Until its linger time is over, functions may still
   * read and write them.
   */
  purges(process: Process, tenant: Tenant): void {
    const order = this.#world.purges.every.find(
      ({ purge }) => buildTenantKey(purge) === buildTenantKey(tenant),
    );
    if (order !== undefined && !isSettled(order.purge, process.now(), DEFAULT_LINGER_SECONDS))
      this.#tell(
        'wiped is gone',
        `${process.name} purges ${buildTenantKey(tenant)} before its linger time is over`,
      );
  }

  /** A function that was invoked writes something of a tenant. */
  writes(process: Process, what: string, tenant: Tenant): void {
    const { organizations, statistics } = this.#world;
    if (!organizations.isOver(tenant)) return;
    if (process.startedMs > organizations.wipedMs(tenant))
      this.#tell(
        'wiped is over',
        `${process.name} ${what} of ${buildTenantKey(tenant)} although it was wiped`,
      );
    else statistics.count(`wiped while under way: ${what}`);
  }

  /** A row of a sandbox came into being. */
  added(table: string, tenant: Tenant): void {
    const { organizations, statistics, faults } = this.#world;
    if (organizations.isOver(tenant)) statistics.count('rows added after their reset');
    if (this.#closed.has(buildTenantKey(tenant)) && !faults.beyondMargin)
      this.#tell('wiped is gone', `the ${table} got a row of ${buildTenantKey(tenant)} after its purge`);
  }

  /** A row of a sandbox was deleted. */
  erased(table: string, tenant: Tenant): void {
    this.#world.statistics.count('rows purged');
    if (!this.#world.organizations.isOver(tenant))
      this.#tell('nothing else is wiped', `a row of ${buildTenantKey(tenant)} was purged from the ${table}`);
  }

  /** A purge was closed: for good, and with nothing left. */
  closed(tenant: Tenant): void {
    const { sandboxTables, faults, statistics } = this.#world;
    statistics.count('purges closed');
    this.#closed.add(buildTenantKey(tenant));
    for (const [name, rows] of Object.entries(sandboxTables.all))
      if (!faults.beyondMargin && rows.has(tenant))
        this.#tell('wiped is gone', `the purge of ${buildTenantKey(tenant)} left rows in the ${name}`);
  }

  /** The progress of a purge was written down. */
  progressed(tenant: Tenant): void {
    if (this.#closed.has(buildTenantKey(tenant)) && this.#world.purges.has(tenant))
      this.#tell('wiped is gone', `the purge of ${buildTenantKey(tenant)} is back after it was closed`);
  }

  /** Something of an organization reaches a receiver of the world, or a simulated one. */
  sends(orgId: OrgId, to: 'the world' | 'a simulated receiver'): void {
    if (this.#world.organizations.isSandbox(orgId) === (to === 'a simulated receiver')) return;
    this.#tell('the sandbox is closed', `a request of ${orgId} reached ${to}`);
  }
}
