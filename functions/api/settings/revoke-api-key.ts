import { success } from '../../platform/reply.ts';
import { apiKeyStore } from '../../store/api-keys.ts';
import { commit, tables } from '../route-handler.ts';
import { sessionRouteHandler } from '../session-route-handler.ts';
import * as routes from './routes.ts';

const apiKeys = apiKeyStore(tables.service);

/** Revoking an unknown or revoked key succeeds, so that retries are safe. */
export const handler = sessionRouteHandler(routes.revokeApiKey, async ({ tenant, params, now }) => {
  const changes = await apiKeys.revoke(tenant.orgId, params.id, now);
  if (changes.length > 0) await commit(changes);
  return success(undefined);
});
