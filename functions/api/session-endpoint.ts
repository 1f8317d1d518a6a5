import { readEnvironment, SessionEnvironment } from '../platform/config.ts';
import { apiHandler } from '../platform/pipeline/api.ts';
import type { UseCase } from '../platform/pipeline/request.ts';
import { sessionAuthentication } from '../platform/pipeline/session-authentication.ts';
import type { Route } from '../platform/route.ts';
import { sessionVerifier } from '../platform/sessions.ts';
import type { Change } from '../store/transaction.ts';
import { ports } from './endpoint.ts';

/*
 * What the routes of the organization settings add to `endpoint.ts`: people's sessions instead of API keys. It is a file of its
 * own so that the functions which take keys do not load what verifies tokens.
 */

const environment = readEnvironment(SessionEnvironment);
const authenticate = sessionAuthentication({
  verify: sessionVerifier({
    issuer: environment.OIDC_ISSUER,
    audience: environment.OIDC_AUDIENCE,
    organizationClaim: environment.OIDC_ORGANIZATION_CLAIM,
    roleClaim: environment.OIDC_ROLE_CLAIM,
  }),
  dashboardOrigin: environment.DASHBOARD_ORIGIN,
});

/** The Lambda handler of a route of the organization settings. @param reveal completes the answer with what is never stored */
export const sessionEndpoint = <R extends Route>(
  route: R,
  useCase: UseCase<R, Change>,
  reveal?: (data: unknown) => unknown,
) => apiHandler(route, { ...ports, authenticate }, useCase, reveal);
