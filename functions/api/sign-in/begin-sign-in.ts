import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { beginSignIn } from './routes.ts';
import {
  COOKIES,
  computeChallenge,
  getIssuerEndpoint,
  getRedirectUri,
  newAttempt,
  returnPath,
  type SignInUseCase,
  setCookie,
  signInRouteHandler,
  toCookie,
} from './sign-in.ts';

/** Time that a user has to sign in at the issuer. */
const ATTEMPT_SECONDS = 600;

/**
 * Replies with the issuer's sign-in URL, for the authorization code flow with PKCE (OpenID Connect Core 1.0,
 * 3.1.2.1; RFC 7636, 4.3).
 */
export const begin: SignInUseCase<typeof beginSignIn> = async ({ body }, terms) => {
  const { returnTo = '/', loginHint } = body;
  const path = returnPath(returnTo);
  if (path === undefined) return { reply: refusals.foreignReturnPath };
  const attempt = newAttempt(path);
  const cookie = setCookie(COOKIES.signIn, toCookie(attempt), ATTEMPT_SECONDS);
  if (cookie === undefined) return { reply: refusals.longReturnPath };
  const location = new URL(await getIssuerEndpoint(terms.issuer, 'authorization_endpoint'));
  const parameters = {
    response_type: 'code',
    client_id: terms.clientId,
    redirect_uri: getRedirectUri(terms),
    scope: terms.scope,
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: computeChallenge(attempt),
    code_challenge_method: 'S256',
    ...(loginHint === undefined ? {} : { login_hint: loginHint }),
  };
  for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value);
  return { reply: success({ location: location.href }), cookies: [cookie] };
};

export const handler = signInRouteHandler(beginSignIn, begin);
