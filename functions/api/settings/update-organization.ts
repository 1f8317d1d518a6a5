import { Defect } from '../../aws/logger.ts';
import { retryOnConflict } from '../../http/api.ts';
import { compareFields } from '../../tenancy/audit.ts';
import { organizationStore } from '../../tenancy/organizations.ts';
import { tables } from '../route-handler.ts';
import { sessionRouteHandler } from '../session-route-handler.ts';
import { replyWithOrganization } from './organization-answer.ts';
import * as routes from './routes.ts';

const organizations = organizationStore(tables.service);

export const handler = sessionRouteHandler(routes.updateOrganization, ({ tenant, body, effect }) =>
  retryOnConflict(async (again) => {
    const organization = await organizations.find(tenant.orgId);
    // The pipeline has just read it, and organizations are never deleted.
    if (!organization) throw new Defect('the organization of a session is gone');
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
