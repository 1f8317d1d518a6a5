import { OrganizationEnvironment, readEnvironment } from '../../aws/config.ts';
import type { OrgId } from '../../aws/ids.ts';
import { Defect } from '../../aws/logger.ts';
import type { UseCase } from '../../http/api.ts';
import { success } from '../../http/reply.ts';
import type { Route } from '../../http/route.ts';
import { routeToEnvironment } from '../../tenancy/organizations.ts';
import type { Organization } from '../../tenancy/tenant.ts';
import { routeHandler } from '../route-handler.ts';
import { authenticate } from '../sessions.ts';
import { organizations, sandboxes } from '../stores.ts';

const environment = /* @__PURE__ */ readEnvironment(OrganizationEnvironment);

/** Creates the Lambda handler of a route of the organization settings. */
export const sessionRouteHandler = <R extends Route>(route: R, useCase: UseCase<R>) =>
  routeHandler(route, useCase, { authenticate });

export async function findOrganization(id: OrgId): Promise<Organization> {
  const organization = await organizations.find(id);
  // The pipeline has just read it, and organizations are never deleted.
  if (!organization) throw new Defect('the organization of a session is gone');
  return organization;
}

/** Replies with the organization, and whether the deployment sends e-mail. */
export const replyWithOrganization = (organization: Organization) =>
  success({ ...organization, mailer: environment.MAILER === 'on' });

/**
 * Returns the sandbox of a live organization; undefined when there is none.
 * @throws Defect when the pairing is invalid, so that no call changes another organization's sandbox
 */
export async function findSandbox(orgId: OrgId) {
  const { pairing, sandbox } = await sandboxes.find(orgId);
  if (pairing === undefined) return undefined;
  const route = routeToEnvironment({ orgId, environment: 'sandbox' }, pairing, sandbox);
  if (route.kind === 'refused' || sandbox === undefined)
    throw new Defect('the pairing of an organization does not hold');
  return { pairing, sandbox };
}
