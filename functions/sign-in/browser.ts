import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';
import { SESSION_COOKIE } from '../platform/pipeline/session-authentication.ts';

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
  /** Where the person continues. */
  returnTo: z.string().check(z.refine((path) => returnPath(path) === path)),
});
export type Attempt = z.infer<typeof Attempt>;

const random = (): string => randomBytes(RANDOM_BYTES).toString('base64url');
const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** @param returnTo as {@link returnPath} gives it */
export const newAttempt = (returnTo: string): Attempt => ({
  state: random(),
  nonce: random(),
  verifier: random(),
  returnTo,
});

/** The verifier's challenge for the issuer (RFC 7636, 4.2, S256). */
export const challengeOf = ({ verifier }: Attempt): string => digestOf(verifier).toString('base64url');

/** Whether what came back is the answer to this attempt, compared in constant time. */
export const isAnswerTo = (attempt: Attempt, state: string): boolean =>
  timingSafeEqual(digestOf(attempt.state), digestOf(state));

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
/** Stands for the dashboard's origin: all that matters is whether a URL leaves it. */
const HERE = 'https://dashboard.invalid';

/**
 * Where a person continues after the sign-in: a path of the dashboard's own origin, with query and fragment,
 * as browsers parse it (WHATWG URL). Anything else would be an open redirect (CWE-601).
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
