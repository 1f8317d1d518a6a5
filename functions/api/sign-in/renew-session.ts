import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { renewSession } from './routes.ts';
import { COOKIES, redeem, type SignInUseCase, sessionCookies, signInRouteHandler } from './sign-in.ts';

const refused = { reply: refusals.missingSession };

/**
 * Exchanges the refresh token for a new ID token (OpenID Connect Core 1.0, 12). A refusal keeps the cookies:
 * when two pages renew at the same time, an issuer that rotates refresh tokens refuses one of them, and that
 * response may arrive last.
 */
export const renew: SignInUseCase<typeof renewSession> = async ({ cookie, now, log }, terms) => {
  const refreshToken = cookie(COOKIES.renewal);
  if (refreshToken === undefined) return refused;
  const tokens = await redeem(terms, { grant_type: 'refresh_token', refresh_token: refreshToken }, log);
  if (tokens === undefined) return refused;
  const session = (await terms.idTokens.read(tokens.id_token))?.session;
  if (session === undefined) {
    log('SIGN_IN_REFUSED', { why: 'the renewed ID token' });
    return refused;
  }
  const newest = { idToken: tokens.id_token, refreshToken: tokens.refresh_token ?? refreshToken };
  const made = sessionCookies(newest, session, now, log);
  if (made.kind === 'problem') return { reply: made };
  return { reply: success({ expiresAt: session.expiresAt }), cookies: made.cookies };
};

export const handler = signInRouteHandler(renewSession, renew);
