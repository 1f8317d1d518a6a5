import { success } from '../../platform/reply.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const endpoints = endpointStore(tables.service);

/**
 * Deleting a deleted endpoint succeeds, so that retries are safe (docs/specification.md, Webhook endpoints).
 */
export const handler = routeHandler(routes.deleteWebhook, async ({ tenant, params, now }) => {
  await endpoints.remove(tenant.orgId, params.id, now);
  return success(undefined);
});
