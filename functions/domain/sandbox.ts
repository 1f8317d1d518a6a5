import * as z from 'zod/mini';
import type { ApiKey } from './api-key.ts';
import { newId, OrgId } from './ids.ts';
import { FIRST_SANDBOX_GENERATION, isSandbox, type OrganizationState, type Tenant } from './tenant.ts';

/**
 * Says beside the live organization which one its sandbox is (public-api.md, Sandbox pairing). There is one
 * at most, and it never changes.
 */
export const Pairing = z.object({
  liveOrganizationId: OrgId,
  sandboxOrganizationId: OrgId,
  createdAt: z.iso.datetime(),
});
export type Pairing = z.infer<typeof Pairing>;

/** The paired organization, as it is stored as an organization of its own: it names the live one as well. */
export const Sandbox = z.object({
  id: OrgId,
  environment: z.literal('sandbox'),
  liveOrganizationId: OrgId,
  /** Of its present data. */
  generation: z.int().check(z.minimum(FIRST_SANDBOX_GENERATION)),
  resetAt: z.optional(z.iso.datetime()),
});
export type Sandbox = z.infer<typeof Sandbox>;

/** A new pairing with its sandbox, which is empty. */
export function createSandbox(liveOrganizationId: OrgId, now: Date): { pairing: Pairing; sandbox: Sandbox } {
  const sandboxOrganizationId = newId('org', now);
  return {
    pairing: { liveOrganizationId, sandboxOrganizationId, createdAt: now.toISOString() },
    sandbox: {
      id: sandboxOrganizationId,
      environment: 'sandbox',
      liveOrganizationId,
      generation: FIRST_SANDBOX_GENERATION,
    },
  };
}

/**
 * Why a sandbox key leads nowhere. For the log: the caller is told what everybody without a valid key is
 * told.
 */
export type RoutingRefusal = 'unpaired' | 'foreign pairing' | 'no such sandbox' | 'not its sandbox';

/**
 * The effective tenant of a request with a sandbox key (public-api.md, Authentication 3): the paired sandbox
 * of the key's own live organization, when the pairing and the sandbox both say so, and nothing else ever.
 * @param pairing what is stored beside the key's organization
 * @param sandbox the organization that the pairing names, if it is one
 */
export function routeToEnvironment(
  { orgId, environment }: Pick<ApiKey, 'orgId' | 'environment'>,
  pairing: Pairing | undefined,
  sandbox: Sandbox | undefined,
): { kind: 'routed'; tenant: Tenant } | { kind: 'refused'; why: RoutingRefusal } {
  const refused = (why: RoutingRefusal) => ({ kind: 'refused', why }) as const;
  if (environment !== 'sandbox' || pairing === undefined) return refused('unpaired');
  if (pairing.liveOrganizationId !== orgId || pairing.sandboxOrganizationId === orgId)
    return refused('foreign pairing');
  if (sandbox === undefined || sandbox.id !== pairing.sandboxOrganizationId)
    return refused('no such sandbox');
  if (sandbox.liveOrganizationId !== orgId || !isSandbox(sandbox)) return refused('not its sandbox');
  return { kind: 'routed', tenant: { orgId: sandbox.id, generation: sandbox.generation } };
}

/** Name of the index, in every table, of the rows that are a sandbox's data. For the stores and the stack. */
export const OF_SANDBOX_INDEX = 'of-sandbox';

/**
 * Seconds after a reset in which functions that began before it may still read and write the older
 * generation. Longer than the timeout of any function that adds rows, and than an index is behind its table.
 */
export const DEFAULT_LINGER_SECONDS = 120;

/** The order to delete a generation's rows, given by the reset that left it behind. */
export const Purge = z.object({
  orgId: OrgId,
  generation: z.int(),
  requestedAt: z.iso.datetime(),
  /** Rows deleted so far. */
  deleted: z._default(z.int(), 0),
});
export type Purge = z.infer<typeof Purge>;

/**
 * Whether nothing reads or writes the generation any more, so that the purge may begin and an empty index is
 * its end.
 */
export const isSettled = ({ requestedAt }: Purge, now: Date, lingerSeconds: number): boolean =>
  now.getTime() - new Date(requestedAt).getTime() >= lingerSeconds * 1000;

export interface OrganizationStates {
  /**
   * What an organization is at present; undefined when there is none. That it is live may be remembered,
   * anything else not.
   */
  of(orgId: Tenant['orgId']): Promise<OrganizationState | undefined>;
}

/**
 * Nothing can be done for data whose organization, or whose generation, cannot be established. What asked
 * tries again later.
 */
export class UnknownTenant extends Error {
  override name = 'UnknownTenant';
}

/**
 * Tells data that a reset has wiped from data that counts. Whoever finds it over drops it without a trace:
 * its rows are deleted elsewhere.
 * @throws UnknownTenant, and whatever the reading throws
 */
export function createGenerationCheck(standings: OrganizationStates) {
  return async ({ orgId, generation }: Tenant): Promise<'current' | 'over'> => {
    const standing = await standings.of(orgId);
    if (standing === undefined) throw new UnknownTenant(`there is no organization ${orgId}`);
    if (generation > standing.generation)
      throw new UnknownTenant(`${orgId} is at generation ${standing.generation}, before ${generation}`);
    return generation === standing.generation ? 'current' : 'over';
  };
}
