import type { APIGatewayProxyEvent } from 'aws-lambda';
import type * as z from 'zod/mini';
import { readEnvironment, SignInEnvironment } from '../../aws/config.ts';
import type { Log } from '../../aws/log-codes.ts';
import { logger as functionLogger } from '../../aws/logger.ts';
import { isSameOrigin, parseCookie } from '../../http/authentication.ts';
import { gatewayHandler, getRequestId, type Headers } from '../../http/lifecycle.ts';
import { isProblem, refusals } from '../../http/problem.ts';
import { type Reply, toResult } from '../../http/reply.ts';
import { parseBody } from '../../http/validation.ts';
import { idTokenReader, issuerAt } from '../../tenancy/sessions.ts';
import type { CookieName, SignInTerms } from './browser.ts';
import type { SignInRoute } from './routes.ts';

/** A parsed request. */
interface SignInRequest<R extends SignInRoute> {
  body: R['body'] extends z.ZodMiniType ? z.output<R['body']> : undefined;
  /** The value of a cookie of the browser, when there is exactly one. */
  cookie(name: CookieName): string | undefined;
  now: Date;
  log: Log;
}

/** @returns the reply, and the cookies to set, in order */
export type SignInUseCase<R extends SignInRoute> = (
  request: SignInRequest<R>,
) => Promise<{ reply: Reply; cookies?: readonly string[] }>;

/**
 * Creates the handler of a sign-in route. Callers are not authenticated, so there is no organization, rate
 * limit per organization or idempotency; the gateway limits the rate. The required `Origin` and JSON body
 * prevent requests from other sites (docs/decisions/0016-dashboard.md).
 * @param dashboardOrigin the only permitted caller; undefined when sign-in is off
 */
export function signInHandler<R extends SignInRoute>(
  route: R,
  dashboardOrigin: string | undefined,
  useCase: SignInUseCase<R>,
  logger = functionLogger,
) {
  const handle = async (event: APIGatewayProxyEvent, headers: Headers) => {
    // Not 503, which would raise an alarm.
    if (dashboardOrigin === undefined) return refusals.signInOff;
    if (!isSameOrigin(event, dashboardOrigin)) return refusals.foreignSignIn;
    const body = parseBody(event, route);
    if (!body.ok) return body.problem;
    const { reply, cookies } = await useCase({
      body: body.value,
      cookie: (name) => parseCookie(event, name),
      now: new Date(),
      log: logger.log,
    } as SignInRequest<R>);
    const answer = isProblem(reply) ? reply : { ...reply, data: route.data.parse(reply.data) };
    const result = toResult(answer, getRequestId(event), headers);
    return { ...result, ...(cookies && { multiValueHeaders: { 'Set-Cookie': [...cookies] } }) };
  };
  return gatewayHandler(route, handle, logger);
}

const environment = readEnvironment(SignInEnvironment);
const { OIDC_ISSUER, OIDC_AUDIENCE: clientId, OIDC_SCOPE: scope, DASHBOARD_ORIGIN } = environment;
const issuer = issuerAt(OIDC_ISSUER);
const terms: SignInTerms = {
  // Never used when empty: the handler refuses all requests.
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

/** Creates the Lambda handler of a sign-in route, which depends on the issuer only. */
export const signInRouteHandler = <R extends SignInRoute>(
  route: R,
  useCase: (terms: SignInTerms) => SignInUseCase<R>,
) => signInHandler(route, DASHBOARD_ORIGIN, useCase(terms));
