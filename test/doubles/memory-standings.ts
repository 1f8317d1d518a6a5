import type { OrgId } from '../../functions/domain/ids.ts';
import type { OrganizationStates } from '../../functions/domain/sandbox.ts';
import {
  FIRST_SANDBOX_GENERATION,
  LIVE_GENERATION,
  type OrganizationState,
} from '../../functions/domain/tenant.ts';

/** Organizations in memory, all of them live but for those that a test makes sandboxes or takes away. */
export interface MemoryStandings extends OrganizationStates {
  /** What it is at this moment. */
  present(orgId: OrgId): OrganizationState | undefined;
  /** Makes it a sandbox, at its first generation. */
  makeSandbox(orgId: OrgId): void;
  /** Wipes a sandbox's data. @returns the generation that it is at now */
  reset(orgId: OrgId): number;
  /** From now on nothing can be said of it. */
  forget(orgId: OrgId): void;
}

export function memoryStandings(): MemoryStandings {
  const sandboxes = new Map<OrgId, number>();
  const forgotten = new Set<OrgId>();

  function standing(orgId: OrgId): OrganizationState | undefined {
    if (forgotten.has(orgId)) return undefined;
    const generation = sandboxes.get(orgId);
    return generation === undefined
      ? { environment: 'live', tier: 'standard', generation: LIVE_GENERATION }
      : { environment: 'sandbox', tier: 'sandbox', generation };
  }

  return {
    of: async (orgId) => standing(orgId),
    present: standing,
    makeSandbox: (orgId) => void sandboxes.set(orgId, FIRST_SANDBOX_GENERATION),
    reset(orgId) {
      const generation = sandboxes.get(orgId);
      if (generation === undefined) throw new Error(`${orgId} is no sandbox`);
      sandboxes.set(orgId, generation + 1);
      return generation + 1;
    },
    forget: (orgId) => void forgotten.add(orgId),
  };
}
