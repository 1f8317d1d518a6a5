import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type ApiKey, bearerKey, digestOf, grants } from '../../domain/api-key.ts';
import { type Problem, problem } from '../../domain/problem.ts';
import type { RateBucket } from '../../domain/rate-limit.ts';
import type { Tenant } from '../../domain/tenant.ts';
import type { Route } from '../route.ts';
import { header } from './request.ts';

/** Who calls, once that is established. */
export interface Caller {
  /** Whose data the request acts on; nothing else says so. */
  tenant: Tenant;
  bucket: RateBucket;
  /** Names the caller in the logs. */
  logged: Record<string, string>;
  /** A caller who is known, and may not do this. */
  denied?: Problem;
}

/** Establishes who calls, before anything else of the request is looked at. A problem when nobody that is known. */
export type Authenticate = (
  event: APIGatewayProxyEvent,
  route: Pick<Route, 'scope' | 'role' | 'method'>,
) => Promise<Caller | Problem>;

/** Finds a key by its digest. */
export interface Keys {
  find(digest: string): Promise<ApiKey | undefined>;
}

const NEEDED = {
  key: 'A valid API key is required: Authorization: Bearer ck_….',
  session: 'A valid dashboard session is required: Authorization: Bearer, or its cookie.',
};

/** One answer to every reason, so that it tells nothing of which credentials and organizations exist. */
export const unauthenticated = (needed: keyof typeof NEEDED): Problem =>
  problem('AUTHENTICATION_ERROR', NEEDED[needed], {
    'WWW-Authenticate': 'Bearer realm="conversation-service"',
  });

/**
 * Callers with API keys (public-api.md, Authentication). A sandbox key acts only through its pairing; without one it is
 * refused.
 */
export function keyAuthentication(keys: Keys): Authenticate {
  return async (event, { scope }) => {
    const presented = bearerKey(header(event, 'authorization'));
    const key = presented === undefined ? undefined : await keys.find(digestOf(presented));
    if (key === undefined || key.revokedAt !== undefined || key.environment !== 'live')
      return unauthenticated('key');
    return {
      tenant: { orgId: key.orgId, generation: 0 },
      bucket: { orgId: key.orgId, kind: key.environment },
      logged: { keyId: key.id },
      ...(scope !== undefined && grants(key.scopes, scope)
        ? {}
        : { denied: problem('PERMISSION_DENIED', `The API key lacks the scope ${scope}.`) }),
    };
  };
}
