import { Defect } from '../../aws/logger.ts';
import { success } from '../../http/reply.ts';
import { organizationStore } from '../../tenancy/organizations.ts';
import { tables } from '../route-handler.ts';
import { sessionRouteHandler } from '../session-route-handler.ts';
import * as routes from './routes.ts';

const organizations = organizationStore(tables.service);

export const handler = sessionRouteHandler(routes.readSession, async ({ tenant, session }) => {
  const organization = await organizations.find(tenant.orgId);
  // The pipeline has just read it, and organizations are never deleted.
  if (!organization) throw new Defect('the organization of a session is gone');
  const { userId, email, role, expiresAt } = session;
  return success({
    userId,
    email,
    organizationId: organization.id,
    organizationName: organization.name,
    role,
    expiresAt: expiresAt.toISOString(),
  });
});
