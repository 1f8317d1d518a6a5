import { success } from '../../http/reply.ts';
import { apiKeys } from '../stores.ts';
import * as routes from './routes.ts';
import { sessionRouteHandler } from './session.ts';

const done = success(undefined);

/** Revoking an unknown or revoked key succeeds, so that retries are safe. */
export const handler = sessionRouteHandler(
  routes.revokeApiKey,
  async ({ tenant, params: { id }, now, effect }) => {
    const revocation = await apiKeys.revoke(tenant.orgId, id, now);
    if (revocation.length === 0) return done;
    const after = now.toISOString();
    return effect(
      done,
      revocation,
      { id, changes: [{ field: 'revokedAt', before: null, after }] },
      { 'api-key-missing': async () => done },
    );
  },
);
