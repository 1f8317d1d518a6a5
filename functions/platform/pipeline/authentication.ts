import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type ApiKey, bearerKey, digestOf, grants, type Scope } from '../../domain/api-key.ts';
import { type Problem, problem } from '../../domain/problem.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { header } from './request.ts';

/** Finds a key by its digest. */
export interface Keys {
  find(digest: string): Promise<ApiKey | undefined>;
}

export type Authentication = { ok: true; tenant: Tenant; key: ApiKey } | { ok: false; problem: Problem };

/** One answer to every reason, so that it tells nothing of which keys exist. */
const refused = (): Authentication => ({
  ok: false,
  problem: problem('AUTHENTICATION_ERROR', 'A valid API key is required: Authorization: Bearer ck_….', {
    'WWW-Authenticate': 'Bearer realm="conversation-service"',
  }),
});

/**
 * Establishes who calls and whether the key has the scope, before anything else is looked at (public-api.md,
 * Authentication). A sandbox key acts only through its pairing; without one it is refused.
 */
export async function authenticate(
  event: APIGatewayProxyEvent,
  scope: Scope,
  keys: Keys,
): Promise<Authentication> {
  const presented = bearerKey(header(event, 'authorization'));
  const key = presented === undefined ? undefined : await keys.find(digestOf(presented));
  if (key === undefined || key.revokedAt !== undefined || key.environment !== 'live') return refused();
  if (!grants(key.scopes, scope))
    return { ok: false, problem: problem('PERMISSION_DENIED', `The API key lacks the scope ${scope}.`) };
  return { ok: true, key, tenant: { orgId: key.orgId, generation: 0 } };
}
