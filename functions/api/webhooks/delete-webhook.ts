import { retryOnConflict } from '../../http/api.ts';
import { success } from '../../http/reply.ts';
import { compareFields } from '../../tenancy/audit.ts';
import { routeHandler } from '../route-handler.ts';
import { endpoints } from '../stores.ts';
import * as routes from './routes.ts';

/**
 * Deleting a deleted endpoint succeeds, so that retries are safe (docs/specification.md, Webhook endpoints).
 */
export const handler = routeHandler(routes.deleteWebhook, ({ tenant, params: { id }, now, effect }) =>
  retryOnConflict(async (again) => {
    const stored = await endpoints.findToChange(tenant.orgId, id);
    if (stored === undefined) return success(undefined);
    return effect(
      success(undefined),
      endpoints.buildRemoval(stored, routes.WEBHOOK_SETTINGS, now),
      { id, changes: compareFields(routes.WEBHOOK_SETTINGS, stored.row, undefined) },
      { 'endpoint-missing': again, 'endpoint-changed': again },
    );
  }),
);
