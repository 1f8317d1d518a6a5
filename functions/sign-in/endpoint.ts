import { readEnvironment, SignInEnvironment } from '../platform/config.ts';
import { issuerAt } from '../platform/issuer.ts';
import { logger } from '../platform/logger.ts';
import { FAILED_INVOCATIONS } from '../platform/metric-names.ts';
import { count, publishMetrics } from '../platform/metrics.ts';
import { idTokenReader } from '../platform/sessions.ts';
import { type SignInUseCase, signInHandler } from './handler.ts';
import type { SignInRoute } from './routes.ts';
import type { SignInTerms } from './tokens.ts';

/*
 * What the functions of the sign-in stand on: the issuer, and nothing of the service's data.
 */

const environment = readEnvironment(SignInEnvironment);
const { OIDC_ISSUER, OIDC_AUDIENCE: clientId, OIDC_SCOPE: scope, DASHBOARD_ORIGIN } = environment;
const issuer = issuerAt(OIDC_ISSUER);
const terms: SignInTerms = {
  // Where there is none, no use case runs.
  dashboardOrigin: DASHBOARD_ORIGIN ?? '',
  clientId,
  scope,
  issuer,
  idTokens: idTokenReader(
    {
      issuer: OIDC_ISSUER,
      audience: clientId,
      organizationClaim: environment.OIDC_ORGANIZATION_CLAIM,
      roleClaim: environment.OIDC_ROLE_CLAIM,
    },
    issuer,
  ),
};
const ports = {
  dashboardOrigin: DASHBOARD_ORIGIN,
  logger,
  onFailure: () => count(FAILED_INVOCATIONS),
  publishMetrics,
  now: () => new Date(),
};

/** The Lambda handler of a route of the sign-in. */
export const signInEndpoint = <R extends SignInRoute>(
  route: R,
  useCase: (terms: SignInTerms) => SignInUseCase<R>,
) => signInHandler(route, ports, useCase(terms));
