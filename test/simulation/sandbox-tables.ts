import type { DeliveryId, EventId, ReceiverId } from '../../functions/domain/ids.ts';
import { isSandbox, type Tenant } from '../../functions/domain/tenant.ts';
import { LaggingRows } from './lagging-rows.ts';
import type { TableName } from './table-names.ts';
import type { WorldContext } from './world-context.ts';

/** How far indexes are behind in a run, in seconds. */
const LAGS = [0, 0, 0.2, 2, 20];
/** Smaller than the requested page, so that purges end between two pages. */
const PAGE_SIZES = [1, 3, 200];

/** Sees added and deleted rows of sandboxes. */
interface RowWitness {
  added(table: TableName, tenant: Tenant): void;
  erased(table: TableName, tenant: Tenant): void;
}

type World = WorldContext & { readonly witness: { readonly resetDeletion: RowWitness } };

/** The data of a purge: the rows of sandboxes by their tables. */
export class SandboxTables {
  readonly all: Readonly<Record<TableName, LaggingRows>>;
  /** Maximum of rows in a page, regardless of the requested limit. */
  readonly pageSize: number;
  readonly #lagMs: number;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    const { random, clock, faults } = world;
    this.#lagMs = faults.isCalm ? 0 : random.pick(LAGS) * 1000;
    this.pageSize = random.pick(PAGE_SIZES);
    const table = (name: TableName) =>
      new LaggingRows({
        nowMs: () => clock.ms,
        lagMs: () => this.lagMs,
        pageSize: this.pageSize,
        erased: ({ key, tenant }) => {
          world.witness.resetDeletion.erased(name, tenant);
          this.#erase[name](key);
        },
      });
    this.all = {
      outbox: table('outbox'),
      deliveries: table('deliveries'),
      ledger: table('ledger'),
      service: table('service'),
    };
  }

  /** How far the indexes are behind. */
  get lagMs(): number {
    return this.#world.isUntroubled ? 0 : this.#lagMs;
  }

  /**
   * Records a written row. Rows of live organizations are not recorded, because they are not in this index.
   */
  written(name: TableName, { orgId, generation }: Tenant, ...key: (string | number)[]): void {
    if (!isSandbox({ generation })) return;
    if (name === 'service') this.#world.stores.record({ orgId, generation }, ...key);
    if (this.all[name].put({ orgId, generation }, key.join('/')))
      this.#world.witness.resetDeletion.added(name, { orgId, generation });
  }

  /** Also called for the row. */
  readonly #erase: Record<TableName, (key: string) => void> = {
    outbox: (key) => {
      this.#world.events.delete(key as EventId);
      const entry = this.#world.entries.get(key);
      if (entry !== undefined) entry.isPurged = true;
    },
    deliveries: (key) => {
      const [webhookId, generation, id] = key.split('/');
      const ref = {
        webhookId: webhookId as ReceiverId,
        generation: Number(generation),
        id: id as DeliveryId,
      };
      this.#world.deliveries.remove(ref);
    },
    ledger: (key) => {
      const [webhookId, generation, hour = ''] = key.split('/');
      this.#world.ledger.remove({ webhookId: webhookId as ReceiverId, generation: Number(generation), hour });
    },
    service: () => undefined,
  };
}
