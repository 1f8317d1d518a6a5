import type { OrgId } from './ids.ts';
import { type Environment, OrganizationState } from './tenant.ts';

declare const permitted: unique symbol;

/**
 * Proof that what is done with it is done for a live organization, which it names. Only the gate makes one.
 */
export interface Permit {
  readonly orgId: OrgId;
  readonly [permitted]: true;
}

const issued = new WeakSet<object>();

function createPermit(orgId: OrgId): Permit {
  const permit = Object.freeze({ orgId }) as Permit;
  issued.add(permit);
  return permit;
}

/**
 * Something was to leave the service without the gate's permission. A defect, which ends here and not at
 * somebody's receiver.
 */
export class NotPermitted extends Error {
  override name = 'NotPermitted';
}

/**
 * To be called by whatever reaches the outside world (receivers, mail, channels, the usage that is billed),
 * before anything else.
 * @throws NotPermitted when the permit is not one that the gate made
 */
export function requirePermit(permit: Permit): void {
  if (!issued.has(permit)) throw new NotPermitted('a side effect was attempted without passing the gate');
}

/** The kind of an organization cannot be established, so nothing is done for it. */
export class GateClosed extends Error {
  override name = 'GateClosed';
}

/** What is done for an organization, depending on what it is. Exactly one of the two runs. */
interface GateBranches<T> {
  live(permit: Permit): Promise<T>;
  sandbox(): Promise<T>;
}

export type Gate = <T>(orgId: OrgId, ways: GateBranches<T>) => Promise<T>;

/**
 * The one function between any worker and the outside world (public-api.md, Sandbox rules): nothing of a
 * sandbox passes. It asks for the organization's kind itself, whoever calls, and is closed when it gets no
 * clear answer.
 * @throws GateClosed, and whatever the way that is taken throws
 */
export function gate(standingOf: (orgId: OrgId) => Promise<OrganizationState | undefined>): Gate {
  async function kindOf(orgId: OrgId): Promise<Environment> {
    let found: unknown;
    try {
      found = await standingOf(orgId);
    } catch (cause) {
      throw new GateClosed(`the kind of ${orgId} could not be read`, { cause });
    }
    // Whoever read it: what contradicts itself is no answer.
    const standing = OrganizationState.safeParse(found);
    if (!standing.success) throw new GateClosed(`nothing clear is known of ${orgId}`);
    return standing.data.environment;
  }

  return async (orgId, ways) =>
    (await kindOf(orgId)) === 'live' ? ways.live(createPermit(orgId)) : ways.sandbox();
}
