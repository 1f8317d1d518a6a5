import { success } from '../../platform/reply.ts';
import { apiKeyStore } from '../../store/api-keys.ts';
import { commit, tables } from '../route-handler.ts';
import { sessionRouteHandler } from '../session-route-handler.ts';
import * as routes from './routes.ts';

const apiKeys = apiKeyStore(tables.service);

/**
 * A key that is unknown or revoked already is as good as revoked, so that retries are safe (as public-api.md
 * has it for DELETE).
 */
export const handler = sessionRouteHandler(routes.revokeApiKey, async ({ tenant, params, now }) => {
  const changes = await apiKeys.revoke(tenant.orgId, params.id, now);
  if (changes.length > 0) await commit(changes);
  return success(undefined);
});
