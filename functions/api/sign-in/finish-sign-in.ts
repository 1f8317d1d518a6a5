import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { finishSignIn } from './routes.ts';
import {
  COOKIES,
  clearCookie,
  fromCookie,
  getRedirectUri,
  isAnswerTo,
  redeem,
  type SignInUseCase,
  sessionCookies,
  signInRouteHandler,
} from './sign-in.ts';

/**
 * Redeems the authorization code; its ID token becomes the session. Only the browser that started the sign-in
 * may redeem it, so a link with another user's code signs no one in as that user (RFC 9700, 4.7).
 */
export const finish: SignInUseCase<typeof finishSignIn> = async ({ body, cookie, now, log }, terms) => {
  const attempt = fromCookie(cookie(COOKIES.signIn));
  if (attempt === undefined || !isAnswerTo(attempt, body.state)) {
    log('SIGN_IN_REFUSED', { why: attempt === undefined ? 'no attempt' : 'another state' });
    return { reply: refusals.staleSignIn };
  }
  // A code can be redeemed once, so clear the attempt even after a failure.
  const cleared = clearCookie(COOKIES.signIn);
  const grant = {
    grant_type: 'authorization_code',
    code: body.code,
    redirect_uri: getRedirectUri(terms),
    code_verifier: attempt.verifier,
  };
  const tokens = await redeem(terms, grant, log);
  if (tokens === undefined) return { reply: refusals.staleSignIn, cookies: [cleared] };
  const token = await terms.idTokens.read(tokens.id_token);
  if (token === undefined || token.nonce !== attempt.nonce) {
    log('SIGN_IN_REFUSED', { why: token === undefined ? 'the ID token' : 'another nonce' });
    return { reply: refusals.staleSignIn, cookies: [cleared] };
  }
  const { session } = token;
  if (session === undefined) {
    log('SIGN_IN_REFUSED', { why: 'no organization or role' });
    return { reply: refusals.noOrganization, cookies: [cleared] };
  }
  const { id_token: idToken, refresh_token: refreshToken } = tokens;
  const made = sessionCookies({ idToken, refreshToken }, session, now, log);
  if (made.kind === 'problem') return { reply: made, cookies: [cleared] };
  log('SIGNED_IN', { userId: session.userId, orgId: session.orgId });
  // The refresh token of an earlier session must not renew this one.
  const staleCookies = made.cookies.length > 1 ? [] : [clearCookie(COOKIES.renewal)];
  const cookies = [cleared, ...made.cookies, ...staleCookies];
  return { reply: success({ returnTo: attempt.returnTo }), cookies };
};

export const handler = signInRouteHandler(finishSignIn, finish);
