import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { readEnvironment, SignInEnvironment } from '../../aws/config.ts';
import type { Log } from '../../aws/log-codes.ts';
import { logger as functionLogger } from '../../aws/logger.ts';
import { isSameOrigin, parseCookie } from '../../http/authentication.ts';
import { gatewayHandler, getRequestId, type Headers } from '../../http/lifecycle.ts';
import { isProblem, type Problem, refusals } from '../../http/problem.ts';
import { type Reply, toResult } from '../../http/reply.ts';
import { SESSION_COOKIE } from '../../http/route.ts';
import { parseBody } from '../../http/validation.ts';
import {
  type IdTokenReader,
  type Issuer,
  IssuerUnavailable,
  idTokenReader,
  issuerAt,
} from '../../tenancy/sessions.ts';
import type { Session } from '../../tenancy/tenant.ts';
import type { SignInRoute } from './routes.ts';

/** As for `SESSION_COOKIE`, the prefix binds them to this host (RFC 6265bis, 4.1.3.2). */
export const COOKIES = {
  /** A sign-in that is in progress. */
  signIn: '__Host-sign-in',
  /** The ID token, with which the API authenticates the user. */
  session: SESSION_COOKIE,
  /** The refresh token, if the issuer returns one. */
  renewal: '__Host-renewal',
} as const;
type CookieName = (typeof COOKIES)[keyof typeof COOKIES];

/** Bytes of name and value: browsers silently ignore a longer cookie (RFC 6265bis, 5.6). */
const MAX_BYTES = 4096;

/** `Strict`, because no navigation from another site needs these cookies. */
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** Characters that a cookie's value may have (RFC 6265bis, 4.1.1). */
const VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/;

/**
 * Builds the value of a `Set-Cookie` header field.
 * @param maxAge seconds, rounded down
 * @returns undefined when browsers would not store the cookie
 */
export function setCookie(name: CookieName, value: string, maxAge: number): string | undefined {
  const fits = Buffer.byteLength(`${name}${value}`) <= MAX_BYTES && VALUE.test(value);
  return fits ? `${name}=${value}; Max-Age=${Math.max(0, Math.floor(maxAge))}; ${ATTRIBUTES}` : undefined;
}

export const clearCookie = (name: CookieName): string => `${name}=; Max-Age=0; ${ATTRIBUTES}`;

const Random = z.string().check(z.regex(/^[\w-]{43}$/));

/**
 * A sign-in that is in progress, as stored in the browser. Not encrypted: its values are this browser's own
 * and are compared with the issuer's response.
 */
const Attempt = z.object({
  /** Returned with the code, to bind the response to this browser's request (RFC 9700, 4.7). */
  state: Random,
  /** Returned in the ID token, to bind it to this sign-in (OpenID Connect Core 1.0, 3.1.2.1). */
  nonce: Random,
  /** Proves that the code is redeemed by the party that requested it (RFC 7636). */
  verifier: Random,
  /** Path where the user continues. */
  returnTo: z.string().check(z.refine((path) => returnPath(path) === path)),
});
export type Attempt = z.infer<typeof Attempt>;

/** As many bytes as recommended for a verifier (RFC 7636, 4.1). */
const random = (): string => randomBytes(32).toString('base64url');
const hashText = (text: string): Buffer => createHash('sha256').update(text).digest();

/** @param returnTo a result of {@link returnPath} */
export const newAttempt = (returnTo: string): Attempt => ({
  state: random(),
  nonce: random(),
  verifier: random(),
  returnTo,
});

/** Computes the verifier's S256 challenge (RFC 7636, 4.2). */
export const computeChallenge = ({ verifier }: Attempt): string => hashText(verifier).toString('base64url');

/** Whether a response belongs to this attempt, compared in constant time. */
export const isAnswerTo = (attempt: Attempt, state: string): boolean =>
  timingSafeEqual(hashText(attempt.state), hashText(state));

export const toCookie = (attempt: Attempt): string =>
  Buffer.from(JSON.stringify(attempt)).toString('base64url');

/** @returns undefined for a value that {@link toCookie} did not write */
export function fromCookie(value: string | undefined): Attempt | undefined {
  if (value === undefined) return undefined;
  try {
    return Attempt.safeParse(JSON.parse(Buffer.from(value, 'base64url').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Characters of a return path, which must fit into a cookie. */
const MAX_LENGTH = 1024;
/** Placeholder for the dashboard's origin, to check whether a URL leaves it. */
const HERE = 'https://dashboard.invalid';

/**
 * Parses the path where a user continues after the sign-in, with query and fragment, as browsers do (WHATWG
 * URL). A URL of another origin would be an open redirect (CWE-601).
 * @returns undefined for anything that is, or could be parsed as, a URL of another origin
 */
export function returnPath(given: string): string | undefined {
  if (!given.startsWith('/')) return undefined;
  // Browsers parse a backslash as a slash, and remove control characters.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
  if (/[\\\u0000-\u0020\u007f]/.test(given)) return undefined;
  const url = URL.parse(given, HERE);
  if (url?.origin !== HERE || url.username !== '' || url.password !== '') return undefined;
  const path = `${url.pathname}${url.search}${url.hash}`;
  // `/.//elsewhere` is a path, but its normalized form is a URL without a scheme.
  return path.startsWith('//') || path.length > MAX_LENGTH ? undefined : path;
}

export interface SignInTerms {
  dashboardOrigin: string;
  /** The dashboard's client id: a public client without a secret. */
  clientId: string;
  /** Requested scopes, separated by spaces. */
  scope: string;
  issuer: Issuer;
  idTokens: IdTokenReader;
}

/** Returns the page that the issuer redirects to; it posts the result to the API. */
export const getRedirectUri = ({ dashboardOrigin }: Pick<SignInTerms, 'dashboardOrigin'>): string =>
  `${dashboardOrigin}/signed-in`;

/** @throws IssuerUnavailable when the issuer does not have the endpoint */
export async function getIssuerEndpoint(issuer: Issuer, name: 'authorization_endpoint' | 'token_endpoint') {
  const url = (await issuer.metadata())[name];
  if (url === undefined) throw new IssuerUnavailable(`the metadata of the issuer has no ${name}`);
  return url;
}

const Tokens = z.object({ id_token: z.string(), refresh_token: z.optional(z.string()) });

/** An error such as `invalid_grant` (RFC 6749, 5.2). */
const Refusal = z.object({ error: z.string().check(z.regex(/^[a-z_]{1,60}$/)) });

/**
 * Requests tokens (RFC 6749, 4.1.3 and 6). A code or refresh token may be valid only once, so the keys that
 * verify the result are loaded first.
 * @returns undefined when the issuer refuses, which is logged
 * @throws IssuerUnavailable
 */
export async function redeem(
  { issuer, clientId, idTokens }: Pick<SignInTerms, 'issuer' | 'clientId' | 'idTokens'>,
  grant: Readonly<Record<string, string>>,
  log: Log,
) {
  await idTokens.ready();
  const { status, body } = await issuer.post(await getIssuerEndpoint(issuer, 'token_endpoint'), {
    ...grant,
    client_id: clientId,
  });
  const tokens = status === 200 ? Tokens.safeParse(body).data : undefined;
  if (tokens === undefined)
    log('SIGN_IN_REFUSED', { why: Refusal.safeParse(body).data?.error ?? 'no ID token', status });
  return tokens;
}

/** Lifetime of the refresh token's cookie. Issuers do not return the token's; this is the user pool's. */
const RENEWAL_SECONDS = 30 * 86_400;

/**
 * Builds the cookies of a session, which lasts until the ID token expires.
 * @param refreshToken the newest; if it is missing or too long, the session cannot be renewed
 */
export function sessionCookies(
  { idToken, refreshToken }: { idToken: string; refreshToken: string | undefined },
  { expiresAt }: Pick<Session, 'expiresAt'>,
  now: Date,
  log: Log,
): { kind: 'cookies'; cookies: string[] } | Problem {
  const session = setCookie(COOKIES.session, idToken, (expiresAt.getTime() - now.getTime()) / 1000);
  if (session === undefined) {
    log('SESSION_TOO_LARGE', { cookie: COOKIES.session, bytes: idToken.length });
    return refusals.largeAccount;
  }
  if (refreshToken === undefined) return { kind: 'cookies', cookies: [session] };
  const renewal = setCookie(COOKIES.renewal, refreshToken, RENEWAL_SECONDS);
  if (renewal === undefined)
    log('SESSION_TOO_LARGE', { cookie: COOKIES.renewal, bytes: refreshToken.length });
  return { kind: 'cookies', cookies: [session, ...(renewal === undefined ? [] : [renewal])] };
}

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
  terms: SignInTerms,
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
  terms: SignInTerms,
  useCase: SignInUseCase<R>,
  logger = functionLogger,
) {
  const handle = async (event: APIGatewayProxyEvent, headers: Headers) => {
    // Not 503, which would raise an alarm.
    if (dashboardOrigin === undefined) return refusals.signInOff;
    if (!isSameOrigin(event, dashboardOrigin)) return refusals.foreignSignIn;
    const body = parseBody(event, route);
    if (!body.ok) return body.problem;
    const cookie = (name: CookieName) => parseCookie(event, name);
    const request = { body: body.value, cookie, now: new Date(), log: logger.log } as SignInRequest<R>;
    const { reply, cookies } = await useCase(request, terms);
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
export const signInRouteHandler = <R extends SignInRoute>(route: R, useCase: SignInUseCase<R>) =>
  signInHandler(route, DASHBOARD_ORIGIN, terms, useCase);
