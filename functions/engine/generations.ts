import type { OrganizationStanding, Tenant } from '../domain/tenant.ts';

export interface Standings {
  /** What an organization is at present; undefined when there is none. That it is live may be remembered, anything else not. */
  of(orgId: Tenant['orgId']): Promise<OrganizationStanding | undefined>;
}

/** Nothing can be done for data whose organization, or whose generation, cannot be established. What asked tries again later. */
export class UnknownTenant extends Error {
  override name = 'UnknownTenant';
}

/**
 * Tells data that a reset has wiped from data that counts. Whoever finds it over drops it without a trace: its rows are deleted elsewhere.
 * @throws UnknownTenant, and whatever the reading throws
 */
export function generations(standings: Standings) {
  return async ({ orgId, generation }: Tenant): Promise<'current' | 'over'> => {
    const standing = await standings.of(orgId);
    if (standing === undefined) throw new UnknownTenant(`there is no organization ${orgId}`);
    if (generation > standing.generation)
      throw new UnknownTenant(`${orgId} is at generation ${standing.generation}, before ${generation}`);
    return generation === standing.generation ? 'current' : 'over';
  };
}
