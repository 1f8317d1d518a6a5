import type { OrgId } from '../../domain/ids.ts';
import type { Pairing, Sandbox } from '../../domain/sandbox.ts';
import { sandboxStore } from '../../store/sandboxes.ts';
import { tables } from '../endpoint.ts';

export const sandboxes = sandboxStore(tables.service);

/**
 * The sandbox of a live organization, or undefined where there is none.
 * @throws when the pairing does not hold, for which its keys are refused too: nothing is done to another organization's sandbox
 */
export async function sandboxOf(orgId: OrgId): Promise<{ pairing: Pairing; sandbox: Sandbox } | undefined> {
  const { pairing, sandbox } = await sandboxes.find(orgId);
  if (pairing === undefined) return undefined;
  if (pairing.liveOrganizationId !== orgId || sandbox?.liveOrganizationId !== orgId)
    throw new Error('the pairing of an organization does not hold');
  return { pairing, sandbox };
}
