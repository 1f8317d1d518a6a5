import type { OrgId } from '../../functions/aws/ids.ts';
import { keys } from '../../functions/tenancy/keys.ts';
import type { OrganizationStates } from '../../functions/tenancy/organizations.ts';
import {
  FIRST_SANDBOX_GENERATION,
  LIVE_GENERATION,
  type OrganizationState,
} from '../../functions/tenancy/tenant.ts';
import type { MemoryService } from './memory-deliveries.ts';

/** Organization states in memory: live, unless a test makes the organization a sandbox or removes it. */
export interface MemoryOrganizationStates extends OrganizationStates {
  /** The current state. */
  present(orgId: OrgId): OrganizationState | undefined;
  /** Makes it a sandbox at the first generation. */
  makeSandbox(orgId: OrgId): void;
  /**
   * Resets a sandbox.
   * @returns its new generation
   */
  reset(orgId: OrgId): number;
  /** Makes its state unknown from now on. */
  forget(orgId: OrgId): void;
}

/** @param service where the rows of sandboxes are, for conditions on their generation */
export function memoryOrganizationStates(service?: MemoryService): MemoryOrganizationStates {
  const sandboxes = new Map<OrgId, number>();
  const forgotten = new Set<OrgId>();

  function state(orgId: OrgId): OrganizationState | undefined {
    if (forgotten.has(orgId)) return undefined;
    const generation = sandboxes.get(orgId);
    return generation === undefined
      ? { environment: 'live', tier: 'standard', generation: LIVE_GENERATION }
      : { environment: 'sandbox', tier: 'sandbox', generation };
  }

  function setGeneration(orgId: OrgId, generation: number): void {
    sandboxes.set(orgId, generation);
    service?.memory.put('service', { ...keys.organization(orgId), generation });
  }

  return {
    of: async (orgId) => state(orgId),
    present: state,
    makeSandbox: (orgId) => setGeneration(orgId, FIRST_SANDBOX_GENERATION),
    reset(orgId) {
      const generation = sandboxes.get(orgId);
      if (generation === undefined) throw new Error(`${orgId} is no sandbox`);
      setGeneration(orgId, generation + 1);
      return generation + 1;
    },
    forget(orgId) {
      forgotten.add(orgId);
      service?.memory.delete('service', { ...keys.organization(orgId) });
    },
  };
}
