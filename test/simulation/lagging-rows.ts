import type { Tenant } from '../../functions/domain/tenant.ts';
import type { PurgePorts } from '../../functions/engine/purge.ts';
import { buildTenantKey } from '../../functions/store/keys.ts';

type Remains = PurgePorts['remains'][number];

interface Row {
  key: string;
  tenant: Tenant;
  sinceMs: number;
  /** When it was deleted; the index may still contain it. */
  goneMs: number;
}

/** The location of a table, and a callback for its rows. */
interface Terms {
  nowMs(): number;
  /** How far the index is behind the table. */
  lagMs(): number;
  /** Maximum of rows in a page, regardless of the requested limit. */
  pageSize: number;
  /** Called for each row that is deleted, once. */
  erased(row: { key: string; tenant: Tenant }): void;
}

/** The rows of sandboxes in a table, with the index that a purge reads, which may lag. */
export class LaggingRows {
  readonly #terms: Terms;
  readonly #present = new Map<string, Row>();
  readonly #indexed = new Map<string, Row[]>();

  constructor(terms: Terms) {
    this.#terms = terms;
  }

  /**
   * Adds a row.
   * @returns whether it is new
   */
  put(tenant: Tenant, key: string): boolean {
    if (this.#present.has(key)) return false;
    const row = { key, tenant, sinceMs: this.#terms.nowMs(), goneMs: Number.POSITIVE_INFINITY };
    this.#present.set(key, row);
    const rows = this.#indexed.get(buildTenantKey(tenant)) ?? [];
    rows.push(row);
    this.#indexed.set(buildTenantKey(tenant), rows);
    return true;
  }

  /** A row goes missing, which no part of the service does. */
  drop(key: string): void {
    const row = this.#present.get(key);
    this.#present.delete(key);
    if (row !== undefined) row.goneMs = this.#terms.nowMs();
  }

  /** All tenants that have rows. */
  get tenants(): Tenant[] {
    return [...this.#present.values()].map(({ tenant }) => tenant);
  }

  has(tenant: Tenant): boolean {
    return this.tenants.some((other) => buildTenantKey(other) === buildTenantKey(tenant));
  }

  readonly find: Remains['find'] = async (tenant, limit) =>
    this.#shown(tenant)
      .slice(0, Math.min(limit, this.#terms.pageSize))
      .map(({ key }) => ({ pk: key }));

  readonly remove: Remains['remove'] = async (rows) => {
    for (const { pk } of rows) {
      const row = this.#present.get(String(pk));
      if (row === undefined) continue;
      this.#present.delete(row.key);
      row.goneMs = this.#terms.nowMs();
      this.#terms.erased(row);
    }
  };

  #shown(tenant: Tenant): Row[] {
    const asOf = this.#asOf;
    return (this.#indexed.get(buildTenantKey(tenant)) ?? []).filter((row) => isShown(row, asOf));
  }

  /** The time of the index's state. */
  get #asOf(): number {
    return this.#terms.nowMs() - this.#terms.lagMs();
  }
}

const isShown = ({ sinceMs, goneMs }: Row, asOf: number): boolean => sinceMs <= asOf && goneMs > asOf;
