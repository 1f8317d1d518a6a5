import { Defect } from '../../aws/logger.ts';
import { organizationStore } from '../../tenancy/organizations.ts';
import { tables } from '../route-handler.ts';
import { sessionRouteHandler } from '../session-route-handler.ts';
import { replyWithOrganization } from './organization-answer.ts';
import * as routes from './routes.ts';

const organizations = organizationStore(tables.service);

export const handler = sessionRouteHandler(routes.readOrganization, async ({ tenant }) => {
  const organization = await organizations.find(tenant.orgId);
  // The pipeline has just read it, and organizations are never deleted.
  if (!organization) throw new Defect('the organization of a session is gone');
  return replyWithOrganization(organization);
});
