import * as routes from './routes.ts';
import { findOrganization, replyWithOrganization, sessionRouteHandler } from './session.ts';

export const handler = sessionRouteHandler(routes.readOrganization, async ({ tenant }) => {
  const organization = await findOrganization(tenant.orgId);
  return replyWithOrganization(organization);
});
