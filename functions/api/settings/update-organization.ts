import { retryOnConflict } from '../../http/api.ts';
import { compareFields } from '../../tenancy/audit.ts';
import { organizations } from '../stores.ts';
import * as routes from './routes.ts';
import { findOrganization, replyWithOrganization, sessionRouteHandler } from './session.ts';

export const handler = sessionRouteHandler(routes.updateOrganization, ({ tenant, body, effect }) =>
  retryOnConflict(async (again) => {
    const organization = await findOrganization(tenant.orgId);
    const updated = { ...organization, ...body };
    const changes = compareFields(Object.keys(body), organization, updated);
    const reply = replyWithOrganization(updated);
    if (changes.length === 0) return reply;
    return effect(
      reply,
      [organizations.buildUpdate(organization, body)],
      { id: tenant.orgId, changes },
      { 'organization-changed': again },
    );
  }),
);
