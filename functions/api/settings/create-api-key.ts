import { success } from '../../http/reply.ts';
import { hashApiKey, issueKey } from '../../tenancy/api-keys.ts';
import { compareFields } from '../../tenancy/audit.ts';
import { apiKeys } from '../stores.ts';
import * as routes from './routes.ts';
import { sessionRouteHandler } from './session.ts';

/** Creates live keys only: provisioning the sandbox creates its keys (docs/specification.md, Sandbox). */
export const handler = sessionRouteHandler(routes.createApiKey, async ({ tenant, body, now, effect }) => {
  const { key, secret } = issueKey({ orgId: tenant.orgId, environment: 'live', ...body }, now);
  return effect(
    success({ ...key, secretOnce: secret }, { location: `/api/settings/api-keys/${key.id}` }),
    apiKeys.create(hashApiKey(secret), key),
    { id: key.id, changes: compareFields(routes.API_KEY_SETTINGS, undefined, key) },
  );
});
