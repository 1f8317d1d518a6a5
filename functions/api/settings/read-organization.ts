import * as routes from './routes.ts';
import { findOrganization, replyWithOrganization, sessionRouteHandler } from './session.ts';

export const handler = sessionRouteHandler(routes.readOrganization, async ({ tenant }) =>
  replyWithOrganization(await findOrganization(tenant.orgId)),
);
