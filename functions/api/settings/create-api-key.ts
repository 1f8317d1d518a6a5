import { hashApiKey, issueKey } from '../../domain/api-key.ts';
import { success } from '../../platform/reply.ts';
import { apiKeyStore } from '../../store/api-keys.ts';
import { tables } from '../route-handler.ts';
import { sessionRouteHandler } from '../session-route-handler.ts';
import { describeNewKey } from './new-key.ts';
import * as routes from './routes.ts';

const apiKeys = apiKeyStore(tables.service);

/** Creates live keys only: provisioning the sandbox creates its keys (docs/specification.md, Sandbox). */
export const handler = sessionRouteHandler(routes.createApiKey, async ({ tenant, body, now, effect }) => {
  const { key, secret } = issueKey({ orgId: tenant.orgId, environment: 'live', ...body }, now);
  return effect(
    success({ ...key, secretOnce: secret }, { location: `/api/settings/api-keys/${key.id}` }),
    apiKeys.create(hashApiKey(secret), key),
    describeNewKey(key),
  );
});
