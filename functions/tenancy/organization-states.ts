import { BoundedMap } from '../aws/cache.ts';
import type { OrgId } from '../aws/ids.ts';
import type { OrganizationState } from './tenant.ts';

const MAX_CACHED = 10_000;

type Load = (orgId: OrgId) => Promise<OrganizationState | undefined>;

/**
 * States of organizations, for workers. A live organization stays live and is cached; a sandbox is read each
 * time, because it may have been reset. Concurrent callers share a read only for a live one.
 */
export function organizationStates(load: Load): { of: Load } {
  const live = new BoundedMap<OrgId, OrganizationState>(MAX_CACHED);
  const reading = new Map<OrgId, Promise<OrganizationState | undefined>>();

  async function read(orgId: OrgId): Promise<OrganizationState | undefined> {
    const state = await load(orgId);
    if (state?.environment === 'live') live.set(orgId, state);
    return state;
  }

  async function startRead(orgId: OrgId): Promise<OrganizationState | undefined> {
    const begun = read(orgId);
    reading.set(orgId, begun);
    try {
      return await begun;
    } finally {
      if (reading.get(orgId) === begun) reading.delete(orgId);
    }
  }

  return {
    async of(orgId) {
      const known = live.get(orgId);
      if (known !== undefined) return known;
      const begun = reading.get(orgId);
      if (begun === undefined) return startRead(orgId);
      const shared = await begun.catch(() => undefined);
      return shared?.environment === 'live' ? shared : startRead(orgId);
    },
  };
}
