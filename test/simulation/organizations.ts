import type { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import type { OrgId } from '../../functions/aws/ids.ts';
import type { Change } from '../../functions/aws/transaction.ts';
import { buildTenantKey } from '../../functions/tenancy/keys.ts';
import { organizationStore, sandboxStore } from '../../functions/tenancy/organizations.ts';
import {
  FIRST_SANDBOX_GENERATION,
  isSandbox,
  LIVE_GENERATION,
  type Tenant,
} from '../../functions/tenancy/tenant.ts';
import type { Random } from './random.ts';
import type { Tables } from './tables.ts';

/** How often an organization is not found during a phase of doubt. */
const MISSED = 0.5;

/** The organizations of a world, some of them sandboxes. */
export class Organizations {
  readonly ids: readonly OrgId[];
  readonly sandboxes: readonly OrgId[];
  readonly #random: Random;
  readonly #clock: VirtualClock;
  readonly #generations = new Map<OrgId, number>();
  /** Each deleted generation, and when it was deleted. */
  readonly #deletedMs = new Map<string, number>();
  readonly deleted: Tenant[] = [];
  readonly #inDoubtUntilMs = new Map<OrgId, number>();

  constructor(random: Random, clock: VirtualClock, least: number, newId: (name: string) => OrgId) {
    this.#random = random;
    this.#clock = clock;
    const kinds = Array.from({ length: random.between(least, 3) }, () => random.chance(0.4));
    this.ids = kinds.map((isSandbox) => newId(isSandbox ? 'sandbox' : 'organization'));
    this.sandboxes = this.ids.filter((_, index) => kinds[index]);
    for (const orgId of this.sandboxes) this.#generations.set(orgId, FIRST_SANDBOX_GENERATION);
  }

  /** The changes that found them. */
  *founding(tables: Tables, newId: (name: string) => OrgId): Generator<Change[]> {
    const service = tables.table('service');
    const createdAt = this.#clock.now().toISOString();
    for (const id of this.ids) {
      if (!this.isSandbox(id)) {
        const live = { id, name: 'Live', environment: 'live', tier: 'standard', createdAt } as const;
        yield [organizationStore(service).add(live)];
        continue;
      }
      const liveOrganizationId = newId('organization of a sandbox');
      const { generation } = this.tenantOf(id);
      yield sandboxStore(service).create(
        { liveOrganizationId, sandboxOrganizationId: id, createdAt },
        { id, environment: 'sandbox', liveOrganizationId, generation },
        { name: 'Sandbox', environment: 'sandbox', tier: 'sandbox', createdAt },
      );
    }
  }

  isSandbox(orgId: OrgId): boolean {
    return this.#generations.has(orgId);
  }

  /** The tenant of a request with a key of the organization. */
  tenantOf(orgId: OrgId): Tenant {
    return { orgId, generation: this.#generations.get(orgId) ?? LIVE_GENERATION };
  }

  /** Whether a reset has deleted the data. */
  isOver({ orgId, generation }: Tenant): boolean {
    return isSandbox({ generation }) && generation < this.tenantOf(orgId).generation;
  }

  /** When a reset deleted the data; infinite while none has. */
  deletedMs(tenant: Tenant): number {
    return this.#deletedMs.get(buildTenantKey(tenant)) ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Moves a sandbox to its next generation.
   * @returns the deleted generation
   */
  reset(orgId: OrgId): Tenant {
    const deleted = this.tenantOf(orgId);
    this.#generations.set(orgId, deleted.generation + 1);
    this.#deletedMs.set(buildTenantKey(deleted), this.#clock.ms);
    this.deleted.push(deleted);
    return deleted;
  }

  get resets(): number {
    return this.deleted.length;
  }

  /** For a while, some reads do not find it. */
  doubt(orgId: OrgId, seconds: number): void {
    this.#inDoubtUntilMs.set(orgId, this.#clock.ms + seconds * 1000);
  }

  calmDown(): void {
    this.#inDoubtUntilMs.clear();
  }

  /** Whether a read does not find its item. */
  isMissed(orgId: OrgId): boolean {
    const isInDoubt = (this.#inDoubtUntilMs.get(orgId) ?? 0) > this.#clock.ms;
    return isInDoubt && this.#random.chance(MISSED);
  }
}
