import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';
import { type Problem, problem } from '../domain/problem.ts';
import type { Session } from '../domain/tenant.ts';
import { type Issuer, type IssuerMetadata, IssuerUnavailable } from '../platform/issuer.ts';
import type { Log } from '../platform/log-codes.ts';
import { SESSION_COOKIE } from '../platform/pipeline/session-authentication.ts';
import type { IdTokenReader } from '../platform/sessions.ts';

/**
 * The browser's cookies. With this prefix browsers accept them from this host alone, over TLS, for all paths
 * (RFC 6265bis, 4.1.3.2).
 */
export const COOKIES = {
  /** A sign-in that is in progress. */
  signIn: '__Host-sign-in',
  /** The ID token, with which the API authenticates a person. */
  session: SESSION_COOKIE,
  /** The refresh token, where the issuer gives one. */
  renewal: '__Host-renewal',
} as const;
export type CookieName = (typeof COOKIES)[keyof typeof COOKIES];

/** Of name and value together, in bytes: browsers silently ignore a longer cookie (RFC 6265bis, 5.6). */
const MAX_BYTES = 4096;

/** `Strict`: no request that needs one of them is a navigation from elsewhere. */
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** What a cookie's value may be made of (RFC 6265bis, 4.1.1). */
const VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/;

/**
 * A `Set-Cookie` header field's value.
 * @param maxAge seconds, rounded down
 * @returns undefined when no browser would keep it
 */
export function setCookie(name: CookieName, value: string, maxAge: number): string | undefined {
  const fits = Buffer.byteLength(`${name}${value}`) <= MAX_BYTES && VALUE.test(value);
  return fits ? `${name}=${value}; Max-Age=${Math.max(0, Math.floor(maxAge))}; ${ATTRIBUTES}` : undefined;
}

export const clearCookie = (name: CookieName): string => `${name}=; Max-Age=0; ${ATTRIBUTES}`;

/** Bytes of a secret; as many as RFC 7636, 4.1 recommends for a verifier. */
const RANDOM_BYTES = 32;

const Random = z.string().check(z.regex(/^[\w-]{43}$/));

/**
 * A sign-in that is in progress, as the browser keeps it. Not encrypted: it belongs to this browser, and all
 * of it is compared with what comes back from the issuer.
 */
const Attempt = z.object({
  /** Comes back with the code, which ties the answer to this browser's request (RFC 9700, 4.7). */
  state: Random,
  /** Comes back in the ID token, which ties it to this sign-in (OpenID Connect Core 1.0, 3.1.2.1). */
  nonce: Random,
  /** Proves that the code is redeemed by the party that requested it (RFC 7636). */
  verifier: Random,
  /** Where the user continues. */
  returnTo: z.string().check(z.refine((path) => returnPath(path) === path)),
});
export type Attempt = z.infer<typeof Attempt>;

const random = (): string => randomBytes(RANDOM_BYTES).toString('base64url');
const hashText = (text: string): Buffer => createHash('sha256').update(text).digest();

/** @param returnTo as {@link returnPath} gives it */
export const newAttempt = (returnTo: string): Attempt => ({
  state: random(),
  nonce: random(),
  verifier: random(),
  returnTo,
});

/** The verifier's challenge for the issuer (RFC 7636, 4.2, S256). */
export const computeChallenge = ({ verifier }: Attempt): string => hashText(verifier).toString('base64url');

/** Whether what came back is the answer to this attempt, compared in constant time. */
export const isAnswerTo = (attempt: Attempt, state: string): boolean =>
  timingSafeEqual(hashText(attempt.state), hashText(state));

export const toCookie = (attempt: Attempt): string =>
  Buffer.from(JSON.stringify(attempt)).toString('base64url');

/** @returns undefined for what {@link toCookie} has not written */
export function fromCookie(value: string | undefined): Attempt | undefined {
  if (value === undefined) return undefined;
  try {
    return Attempt.safeParse(JSON.parse(Buffer.from(value, 'base64url').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Of a return path: browsers refuse a cookie that is much longer. */
const MAX_LENGTH = 1024;
/** Stands for the dashboard's origin: only whether a URL leaves it matters. */
const HERE = 'https://dashboard.invalid';

/**
 * Where a user continues after the sign-in: a path of the dashboard's origin, with query and fragment, as
 * browsers parse it (WHATWG URL). Anything else would be an open redirect (CWE-601).
 * @returns undefined for anything that is, or could be parsed as, a URL elsewhere
 */
export function returnPath(given: string): string | undefined {
  if (!given.startsWith('/')) return undefined;
  // Browsers read a backslash as a slash, and drop invisible characters.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
  if (/[\\\u0000-\u0020\u007f]/.test(given)) return undefined;
  const url = URL.parse(given, HERE);
  if (url?.origin !== HERE || url.username !== '' || url.password !== '') return undefined;
  const path = `${url.pathname}${url.search}${url.hash}`;
  // `/.//elsewhere` is a path here, but normalized it is a URL without a scheme.
  return path.startsWith('//') || path.length > MAX_LENGTH ? undefined : path;
}

/** Configuration of the sign-in. */
export interface SignInTerms {
  /** Origin of the dashboard. */
  dashboardOrigin: string;
  /** The dashboard's client id: a public client without a secret. */
  clientId: string;
  /** Requested scopes, separated by spaces. */
  scope: string;
  issuer: Issuer;
  idTokens: IdTokenReader;
}

/** Page that the issuer redirects to; it posts the result. */
export const getRedirectUri = ({ dashboardOrigin }: Pick<SignInTerms, 'dashboardOrigin'>): string =>
  `${dashboardOrigin}/signed-in`;

type Endpoint = 'authorization_endpoint' | 'token_endpoint';

/** @throws IssuerUnavailable when the issuer has none */
export async function getIssuerEndpoint(issuer: Issuer, name: Endpoint): Promise<string> {
  const metadata: IssuerMetadata = await issuer.metadata();
  const address = metadata[name];
  if (address === undefined) throw new IssuerUnavailable(`the issuer names no ${name}`);
  return address;
}

const Tokens = z.object({ id_token: z.string(), refresh_token: z.optional(z.string()) });
export type Tokens = z.infer<typeof Tokens>;

/** `invalid_grant` and the like (RFC 6749, 5.2). */
const Refusal = z.object({ error: z.string().check(z.regex(/^[a-z_]{1,60}$/)) });

/**
 * Requests tokens (RFC 6749, 4.1.3 and 6). A code or refresh token may be valid once, so the keys to verify
 * the result are loaded before.
 * @returns undefined when the issuer refuses, which is logged
 * @throws IssuerUnavailable
 */
export async function redeem(
  { issuer, clientId, idTokens }: Pick<SignInTerms, 'issuer' | 'clientId' | 'idTokens'>,
  grant: Readonly<Record<string, string>>,
  log: Log,
): Promise<Tokens | undefined> {
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

/** How long browsers keep a refresh token, whose lifetime issuers do not tell: as long as the user pool's. */
const RENEWAL_SECONDS = 30 * 86_400;

/**
 * Cookies of a signed-in user, until the ID token expires.
 * @param refreshToken the newest; without one, or with one that is too long, the session ends with the ID
 * token
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
    return problem(
      'PERMISSION_DENIED',
      'Your account has more attributes than a session cookie can hold. Ask your identity administrator to remove some.',
    );
  }
  if (refreshToken === undefined) return { kind: 'cookies', cookies: [session] };
  const renewal = setCookie(COOKIES.renewal, refreshToken, RENEWAL_SECONDS);
  if (renewal === undefined)
    log('SESSION_TOO_LARGE', { cookie: COOKIES.renewal, bytes: refreshToken.length });
  return { kind: 'cookies', cookies: [session, ...(renewal === undefined ? [] : [renewal])] };
}
