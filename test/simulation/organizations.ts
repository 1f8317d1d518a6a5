import type { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import type { OrgId } from '../../functions/domain/ids.ts';
import {
  FIRST_SANDBOX_GENERATION,
  isSandbox,
  LIVE_GENERATION,
  type Tenant,
} from '../../functions/domain/tenant.ts';
import { buildTenantKey } from '../../functions/store/keys.ts';
import { memoryOrganizationStates } from '../doubles/memory-organization-states.ts';
import type { Random } from './random.ts';

/** How often an organization is not found during a phase of doubt. */
const MISSED = 0.5;

/** The organizations of a world, some of them sandboxes. */
export class Organizations {
  readonly standings = memoryOrganizationStates();
  readonly ids: readonly OrgId[];
  readonly sandboxes: readonly OrgId[];
  readonly #random: Random;
  readonly #clock: VirtualClock;
  /** When each generation was deleted. */
  readonly #deletedMs = new Map<string, number>();
  readonly #inDoubtUntilMs = new Map<OrgId, number>();

  constructor(random: Random, clock: VirtualClock, newId: (name: string) => OrgId) {
    this.#random = random;
    this.#clock = clock;
    const kinds = Array.from({ length: random.between(1, 3) }, () => random.chance(0.4));
    this.ids = kinds.map((isSandbox) => newId(isSandbox ? 'sandbox' : 'organization'));
    this.sandboxes = this.ids.filter((_, index) => kinds[index]);
    for (const orgId of this.sandboxes) this.standings.makeSandbox(orgId);
  }

  isSandbox(orgId: OrgId): boolean {
    return this.sandboxes.includes(orgId);
  }

  /** The tenant of a request with a key of the organization. */
  tenantOf(orgId: OrgId): Tenant {
    return { orgId, generation: this.standings.present(orgId)?.generation ?? LIVE_GENERATION };
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
    this.standings.reset(orgId);
    this.#deletedMs.set(buildTenantKey(deleted), this.#clock.ms);
    return deleted;
  }

  get resets(): number {
    return this.sandboxes.reduce(
      (sum, orgId) => sum + this.tenantOf(orgId).generation - FIRST_SANDBOX_GENERATION,
      0,
    );
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
