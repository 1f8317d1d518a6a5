import { SESSION_COOKIE } from '../platform/pipeline/session-authentication.ts';

/**
 * The cookies of a browser that signs in. The prefix makes browsers take them from this host alone, over TLS, for all paths (RFC 6265bis, 4.1.3.2).
 */
export const COOKIES = {
  /** A sign-in that is under way. */
  signIn: '__Host-sign-in',
  /** The ID token, by which the API knows a person. */
  session: SESSION_COOKIE,
  /** The refresh token, where the issuer gives one. */
  renewal: '__Host-renewal',
} as const;
export type CookieName = (typeof COOKIES)[keyof typeof COOKIES];

/** Browsers ignore a cookie whose name and value are together longer, without a word (RFC 6265bis, 5.6). Bytes. */
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
