import { readEnvironment, SessionEnvironment } from '../aws/config.ts';
import { sessionAuthentication } from '../http/authentication.ts';
import { sessionVerifier } from '../tenancy/sessions.ts';

/*
 * Session authentication, in a separate file so that calls with API keys do not load token verification.
 */

const environment = readEnvironment(SessionEnvironment);

export const authenticate = sessionAuthentication(
  sessionVerifier({
    issuer: environment.OIDC_ISSUER,
    audience: environment.OIDC_AUDIENCE,
    organizationClaim: environment.OIDC_ORGANIZATION_CLAIM,
    roleClaim: environment.OIDC_ROLE_CLAIM,
  }),
  environment.DASHBOARD_ORIGIN,
);
