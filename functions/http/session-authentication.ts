import type { APIGatewayProxyEvent } from 'aws-lambda';
import { parseBearerKey } from '../tenancy/api-key.ts';
import { hasRole, LIVE_GENERATION, type Session } from '../tenancy/tenant.ts';
import { type Authenticate, unauthenticated } from './authentication.ts';
import { problem } from './problem.ts';
import { header } from './request.ts';

/** Returns a cookie that occurs exactly once. Of several with one name, another site may have set one. */
export function parseCookie(event: APIGatewayProxyEvent, wanted: string): string | undefined {
  const values = (header(event, 'cookie') ?? '').split(';').flatMap((pair) => {
    // Only the first equals sign ends the name (RFC 6265, 4.1.1).
    const [name = '', ...parts] = pair.trim().split('=');
    const value = parts.join('=');
    return name === wanted && value !== '' ? [value] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}

/**
 * Whether a page of this origin sent the request, by `Origin`, which pages cannot forge; `null` hides the
 * origin (RFC 6454, 7.3).
 * @param url any URL of the origin; without one the result is false
 */
export function isSameOrigin(event: APIGatewayProxyEvent, url: string | undefined): boolean {
  const origin = header(event, 'origin');
  // In the browsers' form: without path and default port.
  return origin !== undefined && origin !== 'null' && url !== undefined && origin === new URL(url).origin;
}

/** Browsers accept the prefix `__Host-` from this host only, over TLS, for all paths. */
export const SESSION_COOKIE = '__Host-session';

export interface SessionAuthenticationOptions {
  /** Returns the session of a token; undefined when it is invalid. */
  verify(token: string): Promise<Session | undefined>;
  /** Without it no write is accepted with a cookie. */
  dashboardOrigin: string | undefined;
}

/**
 * Users with dashboard sessions (docs/specification.md, Authentication): a bearer token or the cookie.
 * Browsers send the cookie for requests of any site, so a write with it must come from a page of the
 * dashboard.
 */
export function sessionAuthentication({
  verify,
  dashboardOrigin,
}: SessionAuthenticationOptions): Authenticate {
  return async (event, { role, method }) => {
    const authorization = header(event, 'authorization');
    // Decided by form alone, so the response does not reveal whether the key exists.
    if (parseBearerKey(authorization) !== undefined)
      return problem('PERMISSION_DENIED', 'A dashboard session is required; API keys are not accepted here.');
    const presented = findCredential(event, authorization);
    const session = presented && (await verify(presented.token));
    if (!presented || !session) return unauthenticated('session');
    const forged = presented.ambient && method !== 'GET' && !isSameOrigin(event, dashboardOrigin);
    const denied = forged
      ? problem(
          'PERMISSION_DENIED',
          'A write with a session cookie must come from a page of the dashboard (header Origin).',
        )
      : role !== undefined && hasRole(session.role, role)
        ? undefined
        : problem('PERMISSION_DENIED', 'Only admins of the organization may do this.');
    return {
      tenant: { orgId: session.orgId, generation: LIVE_GENERATION },
      bucket: { orgId: session.orgId, kind: 'dashboard' },
      session,
      actor: { type: 'user', id: session.userId, email: session.email },
      logged: { userId: session.userId },
      ...(denied === undefined ? {} : { denied }),
    };
  };
}

/** A bearer token is sent on purpose; the browser adds a cookie by itself. */
function findCredential(
  event: APIGatewayProxyEvent,
  authorization: string | undefined,
): { token: string; ambient: boolean } | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (bearer !== undefined) return { token: bearer, ambient: false };
  // The cookie is not used when the request has another credential.
  if (authorization !== undefined) return undefined;
  const token = parseCookie(event, SESSION_COOKIE);
  return token === undefined ? undefined : { token, ambient: true };
}
