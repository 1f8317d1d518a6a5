import type { OrgId } from '../../aws/ids.ts';
import { Defect } from '../../aws/logger.ts';
import { sandboxStore } from '../../tenancy/organizations.ts';
import { type Pairing, routeToEnvironment, type Sandbox } from '../../tenancy/sandbox.ts';
import { tables } from '../route-handler.ts';

export const sandboxes = sandboxStore(tables.service);

/**
 * Returns the sandbox of a live organization; undefined when there is none.
 * @throws Defect when the pairing is invalid, so that no call changes another organization's sandbox
 */
export async function findSandbox(orgId: OrgId): Promise<{ pairing: Pairing; sandbox: Sandbox } | undefined> {
  const { pairing, sandbox } = await sandboxes.find(orgId);
  if (pairing === undefined) return undefined;
  const route = routeToEnvironment({ orgId, environment: 'sandbox' }, pairing, sandbox);
  if (route.kind === 'refused' || sandbox === undefined)
    throw new Defect('the pairing of an organization does not hold');
  return { pairing, sandbox };
}
