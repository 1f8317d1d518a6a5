import type { APIGatewayProxyEvent } from 'aws-lambda';
import { bearerKey } from '../../domain/api-key.ts';
import { problem } from '../../domain/problem.ts';
import { permits, type Session } from '../../domain/session.ts';
import { type Authenticate, unauthenticated } from './authentication.ts';
import { header } from './request.ts';

/** The cookie of the dashboard. Its prefix makes browsers take it from this host alone, over TLS, for all paths. */
export const SESSION_COOKIE = '__Host-session';

export interface SessionAuthenticationOptions {
  /** The session that a token stands for, or undefined when it stands for none. */
  verify(token: string): Promise<Session | undefined>;
  /** Origin of the dashboard; without one no write is accepted with a cookie. */
  dashboardOrigin: string | undefined;
}

/**
 * People with dashboard sessions (decisions.md, Authentication): a token as a bearer or in the cookie. A browser sends the cookie
 * whoever made it send the request, so a write with it must come from a page of the dashboard.
 */
export function sessionAuthentication({
  verify,
  dashboardOrigin,
}: SessionAuthenticationOptions): Authenticate {
  return async (event, { role, method }) => {
    const authorization = header(event, 'authorization');
    if (bearerKey(authorization) !== undefined)
      return problem('PERMISSION_DENIED', 'A dashboard session is required; API keys are not accepted here.');
    const presented = tokenIn(event, authorization);
    const session = presented && (await verify(presented.token));
    if (!presented || !session)
      return unauthenticated('A valid dashboard session is required: Authorization: Bearer, or its cookie.');
    const fromDashboard = dashboardOrigin !== undefined && header(event, 'origin') === dashboardOrigin;
    const denied =
      presented.ambient && method !== 'GET' && !fromDashboard
        ? problem('PERMISSION_DENIED', 'Changes with a session cookie must come from the dashboard (Origin).')
        : role !== undefined && permits(session.role, role)
          ? undefined
          : problem('PERMISSION_DENIED', 'This is for admins of the organization.');
    return {
      tenant: { orgId: session.orgId, generation: 0 },
      bucket: { orgId: session.orgId, kind: 'dashboard' },
      logged: { userId: session.userId },
      ...(denied === undefined ? {} : { denied }),
    };
  };
}

/** A bearer token is sent on purpose; a cookie is ambient, the browser adds it by itself. */
function tokenIn(
  event: APIGatewayProxyEvent,
  authorization: string | undefined,
): { token: string; ambient: boolean } | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (bearer !== undefined) return { token: bearer, ambient: false };
  // A request that tries to authenticate in another way is not rescued by a cookie.
  if (authorization !== undefined) return undefined;
  for (const pair of (header(event, 'cookie') ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === SESSION_COOKIE && value) return { token: value, ambient: true };
  }
  return undefined;
}
