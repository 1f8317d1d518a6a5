import * as z from 'zod/mini';
import { newId, OrgId, Timestamp } from '../aws/ids.ts';
import type { ApiKey } from './api-keys.ts';
import { FIRST_SANDBOX_GENERATION, isSandbox, type Tenant } from './tenant.ts';

/**
 * Stored with the live organization: its sandbox (docs/specification.md, Sandbox). There is at most one, and
 * it never changes.
 */
export const Pairing = z.object({
  liveOrganizationId: OrgId,
  sandboxOrganizationId: OrgId,
  createdAt: Timestamp,
});
export type Pairing = z.infer<typeof Pairing>;

/** The sandbox, an organization of its own that names its live organization. */
export const Sandbox = z.object({
  id: OrgId,
  environment: z.literal('sandbox'),
  liveOrganizationId: OrgId,
  /** Generation of the current data. */
  generation: z.int().check(z.minimum(FIRST_SANDBOX_GENERATION)),
  resetAt: z.optional(Timestamp),
});
export type Sandbox = z.infer<typeof Sandbox>;

/** Creates an empty sandbox with its pairing. */
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

/** Why a sandbox key is refused. For the log only: the caller gets the same answer as for any invalid key. */
export type RoutingRefusal = 'unpaired' | 'foreign pairing' | 'no such sandbox' | 'not its sandbox';

/**
 * Resolves the tenant of a request with a sandbox key: the sandbox of the key's live organization, when
 * pairing and sandbox name each other (docs/specification.md, Authentication).
 * @param pairing stored with the key's organization
 * @param sandbox the organization that the pairing names, if it exists
 */
export function routeToEnvironment(
  { orgId, environment }: Pick<ApiKey, 'orgId' | 'environment'>,
  pairing: Pairing | undefined,
  sandbox: Sandbox | undefined,
): { kind: 'routed'; tenant: Tenant } | { kind: 'refused'; why: RoutingRefusal } {
  const refuse = (why: RoutingRefusal) => ({ kind: 'refused', why }) as const;
  if (environment !== 'sandbox' || pairing === undefined) return refuse('unpaired');
  if (pairing.liveOrganizationId !== orgId || pairing.sandboxOrganizationId === orgId)
    return refuse('foreign pairing');
  if (sandbox === undefined || sandbox.id !== pairing.sandboxOrganizationId) return refuse('no such sandbox');
  if (sandbox.liveOrganizationId !== orgId || !isSandbox(sandbox)) return refuse('not its sandbox');
  return { kind: 'routed', tenant: { orgId: sandbox.id, generation: sandbox.generation } };
}

/** Index, in every table, of the rows of sandboxes. */
export const OF_SANDBOX_INDEX = 'of-sandbox';

/**
 * Seconds after a reset in which functions that began before may still use the older generation: longer than
 * the timeout of any function that adds rows, and than an index lags behind its table.
 */
export const DEFAULT_LINGER_SECONDS = 120;

/** The order to delete the rows of a generation, given by a reset. */
export const Purge = z.object({
  orgId: OrgId,
  generation: z.int(),
  requestedAt: Timestamp,
  deleted: z._default(z.int(), 0),
});
export type Purge = z.infer<typeof Purge>;

/**
 * Whether no function uses the generation any more, so that the purge can begin and an empty index means that
 * it is complete.
 */
export const isSettled = ({ requestedAt }: Purge, now: Date, lingerSeconds: number): boolean =>
  now.getTime() - new Date(requestedAt).getTime() >= lingerSeconds * 1000;
