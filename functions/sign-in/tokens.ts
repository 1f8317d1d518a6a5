import * as z from 'zod/mini';
import { type Problem, problem } from '../domain/problem.ts';
import type { Session } from '../domain/session.ts';
import { type Issuer, type IssuerMetadata, IssuerUnavailable } from '../platform/issuer.ts';
import type { Log } from '../platform/log-codes.ts';
import type { IdTokenReader } from '../platform/sessions.ts';
import { COOKIES, setCookie } from './browser.ts';

/** What a sign-in has to know. */
export interface SignInTerms {
  /** Where the dashboard is, without a path. */
  dashboardOrigin: string;
  /** The dashboard's name at the issuer: a public client, which has no secret. */
  clientId: string;
  /** What is asked for, space-separated. */
  scope: string;
  issuer: Issuer;
  idTokens: IdTokenReader;
}

/** Where the issuer sends people back to: a page, which posts what it got. */
export const redirectUriOf = ({ dashboardOrigin }: Pick<SignInTerms, 'dashboardOrigin'>): string =>
  `${dashboardOrigin}/signed-in`;

type Endpoint = 'authorization_endpoint' | 'token_endpoint';

/** @throws IssuerUnavailable when the issuer has none, so that nobody can sign in by it */
export async function endpointOf(issuer: Issuer, name: Endpoint): Promise<string> {
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
 * Asks the issuer for tokens (RFC 6749, 4.1.3 and 6): what they are asked for with may be good once, so that
 * everything that is needed to read them is there before.
 * @returns undefined when it refuses, which is logged
 * @throws IssuerUnavailable
 */
export async function redeem(
  { issuer, clientId, idTokens }: Pick<SignInTerms, 'issuer' | 'clientId' | 'idTokens'>,
  grant: Readonly<Record<string, string>>,
  log: Log,
): Promise<Tokens | undefined> {
  await idTokens.ready();
  const { status, body } = await issuer.post(await endpointOf(issuer, 'token_endpoint'), {
    ...grant,
    client_id: clientId,
  });
  const tokens = status === 200 ? Tokens.safeParse(body).data : undefined;
  if (tokens === undefined)
    log('SIGN_IN_REFUSED', { why: Refusal.safeParse(body).data?.error ?? 'no ID token', status });
  return tokens;
}

/**
 * How long browsers keep a refresh token, for which issuers give no time: as long as the user pool's. Whether
 * it is still good is the issuer's to say.
 */
const RENEWAL_SECONDS = 30 * 86_400;

/**
 * The cookies of somebody who has signed in, for as long as the ID token is good.
 * @param refreshToken the newest; without one, or with one that is too long, the session ends with the ID
 *   token
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
      'Your account has more attributes than a browser keeps of a session. Ask whoever manages it to remove some.',
    );
  }
  if (refreshToken === undefined) return { kind: 'cookies', cookies: [session] };
  const renewal = setCookie(COOKIES.renewal, refreshToken, RENEWAL_SECONDS);
  if (renewal === undefined)
    log('SESSION_TOO_LARGE', { cookie: COOKIES.renewal, bytes: refreshToken.length });
  return { kind: 'cookies', cookies: [session, ...(renewal === undefined ? [] : [renewal])] };
}
