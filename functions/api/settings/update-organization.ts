import { retryOnConflict } from '../../http/api.ts';
import { compareFields } from '../../tenancy/audit.ts';
import { organizations, retentions } from '../stores.ts';
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
      [
        organizations.buildUpdate(organization, body),
        ...(typeof body.retentionDays === 'number'
          ? [retentions.set(organization.id, body.retentionDays)]
          : []),
        ...(body.retentionDays === null ? [retentions.end(organization.id)] : []),
      ],
      { id: tenant.orgId, changes },
      { 'organization-changed': again },
    );
  }),
);
