import type { APIGatewayProxyEvent } from 'aws-lambda';
import { parseBearerKey } from '../../domain/api-key.ts';
import { problem } from '../../domain/problem.ts';
import { hasRole, LIVE_GENERATION, type Session } from '../../domain/tenant.ts';
import { type Authenticate, unauthenticated } from './authentication.ts';
import { header } from './request.ts';

/** What browsers add to requests by themselves. */

/**
 * The value of a cookie, when the request has exactly one of this name. A browser has one such cookie. Of
 * several somebody else may have set one, and nothing says which.
 */
export function parseCookie(event: APIGatewayProxyEvent, wanted: string): string | undefined {
  const values = (header(event, 'cookie') ?? '').split(';').flatMap((pair) => {
    // Only the first sign of equality ends the name: a value may have further ones (RFC 6265, 4.1.1).
    const [name = '', ...parts] = pair.trim().split('=');
    const value = parts.join('=');
    return name === wanted && value !== '' ? [value] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}

/**
 * Whether a page of this origin made the request. Browsers say so, and pages cannot say otherwise; `null` is
 * what they send where they will not say which page it was (RFC 6454, 7.3).
 * @param url any of the origin; without one no page is of it
 */
export function isSameOrigin(event: APIGatewayProxyEvent, url: string | undefined): boolean {
  const origin = header(event, 'origin');
  // As browsers write it: without a path, and without the scheme's own port.
  return origin !== undefined && origin !== 'null' && url !== undefined && origin === new URL(url).origin;
}

/**
 * The cookie of the dashboard. Its prefix makes browsers take it from this host alone, over TLS, for all
 * paths.
 */
export const SESSION_COOKIE = '__Host-session';

export interface SessionAuthenticationOptions {
  /** The session that a token stands for, or undefined when it stands for none. */
  verify(token: string): Promise<Session | undefined>;
  /** Origin of the dashboard; without one no write is accepted with a cookie. */
  dashboardOrigin: string | undefined;
}

/**
 * People with dashboard sessions (decisions.md, Authentication): a token as a bearer or in the cookie. A
 * browser sends the cookie whoever made it send the request, so a write with it must come from a page of the
 * dashboard.
 */
export function sessionAuthentication({
  verify,
  dashboardOrigin,
}: SessionAuthenticationOptions): Authenticate {
  return async (event, { role, method }) => {
    const authorization = header(event, 'authorization');
    // Its form alone says so: whether the key exists is nothing that this route tells.
    if (parseBearerKey(authorization) !== undefined)
      return problem('PERMISSION_DENIED', 'A dashboard session is required; API keys are not accepted here.');
    const presented = findCredential(event, authorization);
    const session = presented && (await verify(presented.token));
    if (!presented || !session) return unauthenticated('session');
    const forged = presented.ambient && method !== 'GET' && !isSameOrigin(event, dashboardOrigin);
    const denied = forged
      ? problem('PERMISSION_DENIED', 'Changes with a session cookie must come from the dashboard (Origin).')
      : role !== undefined && hasRole(session.role, role)
        ? undefined
        : problem('PERMISSION_DENIED', 'Only admins of the organization may do this.');
    return {
      tenant: { orgId: session.orgId, generation: LIVE_GENERATION },
      bucket: { orgId: session.orgId, kind: 'dashboard' },
      session,
      logged: { userId: session.userId },
      ...(denied === undefined ? {} : { denied }),
    };
  };
}

/** A bearer token is sent on purpose; a cookie is ambient, the browser adds it by itself. */
function findCredential(
  event: APIGatewayProxyEvent,
  authorization: string | undefined,
): { token: string; ambient: boolean } | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (bearer !== undefined) return { token: bearer, ambient: false };
  // A request that tries to authenticate in another way is not rescued by a cookie.
  if (authorization !== undefined) return undefined;
  const token = parseCookie(event, SESSION_COOKIE);
  return token === undefined ? undefined : { token, ambient: true };
}
