import type { OrgId } from '../aws/ids.ts';
import { type Environment, OrganizationState } from './tenant.ts';

declare const permitted: unique symbol;

/** Proof that an action is for a live organization, which it names. Only the gate creates one. */
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

/** An action without a permit: a defect, stopped before anything leaves the service. */
export class NotPermitted extends Error {
  override name = 'NotPermitted';
}

/**
 * Every function that reaches the outside world (receivers, mail, channels, billed usage) calls this first.
 * @throws NotPermitted when the gate did not create the permit
 */
export function requirePermit(permit: Permit): void {
  if (!issued.has(permit)) throw new NotPermitted('a side effect was attempted without passing the gate');
}

/** The organization's state could not be read or is contradictory, so nothing is done for it. */
export class GateClosed extends Error {
  override name = 'GateClosed';
}

/** Exactly one of the branches runs. */
export type Gate = <T>(
  orgId: OrgId,
  branches: { live(permit: Permit): Promise<T>; sandbox(): Promise<T> },
) => Promise<T>;

/**
 * The only path from a worker to the outside world: nothing of a sandbox passes (docs/specification.md,
 * Sandbox). It reads the organization's state itself and closes without a clear answer.
 * @throws GateClosed, and what the branch throws
 */
export function gate(findState: (orgId: OrgId) => Promise<OrganizationState | undefined>): Gate {
  async function readEnvironment(orgId: OrgId): Promise<Environment> {
    let stored: unknown;
    try {
      stored = await findState(orgId);
    } catch (cause) {
      throw new GateClosed(`the state of ${orgId} could not be read`, { cause });
    }
    // A contradictory state is no answer.
    const state = OrganizationState.safeParse(stored);
    if (!state.success) throw new GateClosed(`the state of ${orgId} is missing or contradictory`);
    return state.data.environment;
  }

  return async (orgId, branches) =>
    (await readEnvironment(orgId)) === 'live' ? branches.live(createPermit(orgId)) : branches.sandbox();
}
