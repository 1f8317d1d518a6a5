import { routes } from '../../functions/api/routes.ts';
import * as signInRoutes from '../../functions/api/sign-in/routes.ts';
import { buildDeprecationHeaders, type Route } from '../../functions/http/route.ts';
import { withSessionRoutes } from '../openapi/session-routes.ts';
import type { FunctionName } from './grants/grant.ts';
import { publicClassOf, type ServedMethod } from './public-throttles.ts';

/** Public paths of the OpenAPI document and the reference page, and their functions. */
export const DOCUMENTATION_ROUTES = [
  { name: 'read-openapi', method: 'GET', path: '/openapi.json' },
  { name: 'docs', method: 'GET', path: '/docs' },
  { name: 'docs', method: 'GET', path: '/docs/{file}' },
] as const;

/** Sign-in and sign-out of the dashboard. */
export const SIGN_IN_ROUTES = Object.values(signInRoutes);

const ROUTES: readonly Route[] = Object.values(withSessionRoutes(routes));

/** All methods that functions serve. */
export const SERVED: readonly (ServedMethod & { name: FunctionName })[] = [
  ...ROUTES.map((route) => ({
    name: route.name as FunctionName,
    method: route.method,
    path: route.path,
    publicClass: publicClassOf(route),
  })),
  ...SIGN_IN_ROUTES.map((route) => ({ ...route, publicClass: 'signIn' as const })),
  ...DOCUMENTATION_ROUTES.map((route) => ({ ...route, publicClass: 'documentation' as const })),
];

/** CORS preflights for pages of other sites, answered by the gateway. */
export const PREFLIGHTS: readonly ServedMethod[] = [
  ...new Set(SERVED.filter(({ publicClass }) => publicClass === 'visitor').map(({ path }) => path)),
].map((path) => ({ method: 'OPTIONS', path, publicClass: 'preflight' }));

/** Methods of each path, for `Allow` (RFC 9110, 10.2.1). */
export const listAllowedMethods = (path: string): string[] =>
  [...SERVED, ...PREFLIGHTS].filter((served) => served.path === path).map(({ method }) => method);

/** Function that answers the other methods of every path. */
export const METHOD_NOT_ALLOWED: FunctionName = 'method-not-allowed';

/**
 * Headers of the 405 of each path: `Allow`, and those of a deprecated route (docs/specification.md,
 * Versioning).
 */
export const buildMethodHeaders = (
  routes: readonly Pick<Route, 'path' | 'deprecation'>[] = ROUTES,
): Record<string, Record<string, string>> =>
  Object.fromEntries(
    [...new Set(SERVED.map(({ path }) => path))].map((path) => [
      path,
      {
        Allow: listAllowedMethods(path).join(', '),
        ...buildDeprecationHeaders(
          routes.find((route) => route.path === path && route.deprecation !== undefined)?.deprecation,
        ),
      },
    ]),
  );
