import { SESSION_COOKIE } from '../../functions/platform/pipeline/session-authentication.ts';
import type { Route } from '../../functions/platform/route.ts';
import type { Operation, SecurityScheme } from './openapi.ts';

/** How callers authenticate (docs/specification.md, Authentication). */
export const SECURITY_SCHEMES = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'ck_live_… or ck_sandbox_…',
    description:
      'An API key of the organization, made by an admin in the organization settings and shown once. A key that begins with `ck_live_` acts on the organization, one with `ck_sandbox_` on its sandbox. It carries scopes; each operation names the one it needs. A `write:` scope implies the `read:` scope of the same resource. Revoking a key takes effect at the next request.',
  },
  session: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A dashboard session: an OpenID Connect ID token that names the user, the organization and the role, `member` or `admin`. API keys are not accepted in its place.',
  },
  sessionCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'The same token in the cookie of the dashboard. Changes with it must come from a page of the dashboard (`Origin`).',
  },
  visitorToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'cvt_…',
    description:
      'The token of one conversation, for the browser of its visitor (`createVisitorToken`). It lasts for 15 minutes and reads that conversation alone.',
  },
} as const satisfies Record<string, SecurityScheme>;

type Secured = Pick<Operation, 'security' | 'x-required-scope' | 'x-required-role'>;

/**
 * What a call needs. Tools know scopes of OAuth alone, so ours are said in a field of their own and in the
 * description.
 */
export function securityOf(route: Route): Secured {
  if (route.visitor) return { security: [{ visitorToken: [] }] };
  return route.scope === undefined
    ? {
        security: [{ session: [] }, { sessionCookie: [] }],
        'x-required-role': route.role,
      }
    : { security: [{ apiKey: [] }], 'x-required-scope': route.scope };
}

/** The same in words. */
export const accessText = (route: Route): string =>
  route.visitor
    ? 'Needs the token of a visitor.'
    : route.scope === undefined
      ? route.role === 'admin'
        ? 'Needs a dashboard session of an **admin** of the organization.'
        : 'Needs a dashboard session of the organization, **member** or admin.'
      : `Needs an API key with the scope \`${route.scope}\`${
          route.scope.startsWith('read:') ? ` or \`${route.scope.replace('read:', 'write:')}\`` : ''
        }.`;
