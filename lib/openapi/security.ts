import type { Route } from '../../functions/http/route.ts';
import { SESSION_COOKIE } from '../../functions/http/route.ts';
import type { Operation, SecurityScheme } from './openapi.ts';

/** How callers authenticate (docs/specification.md, Authentication). */
export const SECURITY_SCHEMES = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'ck_live_… or ck_sandbox_…',
    description:
      'An API key that an admin creates in the dashboard; it is shown once. `ck_live_` keys act on the organization, `ck_sandbox_` keys on its sandbox. Each operation names the scope that the key needs; a `write:` scope implies the `read:` scope of the same resource. Revocation takes effect at the next request.',
  },
  session: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'A dashboard session: an OpenID Connect ID token with the user, the organization and the role (`member` or `admin`). API keys are not accepted.',
  },
  sessionCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description: 'The same token in the dashboard’s cookie. Writes must have the dashboard’s `Origin`.',
  },
  visitorToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'cvt_…',
    description:
      'A token for a visitor’s browser (`createVisitorToken`). It reads one conversation, writes in it, and is valid for 15 minutes.',
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
    ? 'Requires a visitor token.'
    : route.scope === undefined
      ? route.role === 'admin'
        ? 'Requires a dashboard session with role **admin**.'
        : 'Requires a dashboard session with role **member** or admin.'
      : `Requires an API key with scope \`${route.scope}\`${
          route.scope.startsWith('read:') ? ` or \`${route.scope.replace('read:', 'write:')}\`` : ''
        }.`;
