import { success } from '../../http/reply.ts';
import * as routes from './routes.ts';
import { findOrganization, sessionRouteHandler } from './session.ts';

export const handler = sessionRouteHandler(routes.readSession, async ({ tenant, session }) => {
  const organization = await findOrganization(tenant.orgId);
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
