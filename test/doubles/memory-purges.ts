import type { Purge, PurgePorts } from '../../functions/tenancy/purge.ts';
import type { Tenant } from '../../functions/tenancy/tenant.ts';

interface Order {
  purge: Purge;
  leasedUntil: string | undefined;
}

/** Purges of reset generations, in memory. */
export class MemoryPurges {
  readonly #orders = new Map<string, Order>();

  /** All open purges, in the order of their addition. */
  get every(): { purge: Purge; leasedUntil: string | undefined }[] {
    return [...this.#orders.values()];
  }

  order(purge: Tenant & { requestedAt: string }): void {
    this.#orders.set(rowKey(purge), { purge: { ...purge, deleted: 0 }, leasedUntil: undefined });
  }

  readonly open: PurgePorts['purges']['open'] = async () =>
    this.every
      .map(({ purge }) => purge)
      .toSorted((a, b) => (a.requestedAt === b.requestedAt ? 0 : a.requestedAt < b.requestedAt ? -1 : 1));

  readonly lease: PurgePorts['purges']['lease'] = async (purge, until, now) => {
    const order = this.#orders.get(rowKey(purge));
    if (order === undefined || (order.leasedUntil ?? '') > now.toISOString()) return false;
    order.leasedUntil = until.toISOString();
    return true;
  };

  readonly release: PurgePorts['purges']['release'] = async (purge) => {
    const order = this.#orders.get(rowKey(purge));
    if (order !== undefined) order.leasedUntil = undefined;
  };

  readonly progress: PurgePorts['purges']['progress'] = async (purge, deleted) => {
    const order = this.#orders.get(rowKey(purge));
    if (order === undefined) return;
    order.purge = { ...order.purge, deleted: order.purge.deleted + deleted };
  };

  readonly close: PurgePorts['purges']['close'] = async (purge) => {
    this.#orders.delete(rowKey(purge));
  };

  /** Whether the generation has an open purge. */
  has(tenant: Tenant): boolean {
    return this.#orders.has(rowKey(tenant));
  }
}

const rowKey = ({ orgId, generation }: Tenant): string => `${orgId}#${generation}`;
