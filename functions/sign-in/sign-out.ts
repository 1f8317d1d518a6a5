import type { Log } from '../platform/log-codes.ts';
import { success } from '../platform/reply.ts';
import { COOKIES, clearCookie, type SignInTerms } from './browser.ts';
import { signOut } from './routes.ts';
import { type SignInUseCase, signInRouteHandler } from './sign-in-handler.ts';

/**
 * Ends the session here, even when the issuer fails, and at the issuer if possible: revokes the refresh token
 * (RFC 7009), and returns where the browser signs out of the issuer.
 */
export const end =
  (terms: SignInTerms): SignInUseCase<typeof signOut> =>
  async ({ cookie, log }) => {
    const refreshToken = cookie(COOKIES.renewal);
    if (refreshToken !== undefined) await revoke(terms, refreshToken, log);
    return {
      reply: success({ location: await issuerSignOutUrl(terms, log) }),
      cookies: Object.values(COOKIES).map(clearCookie),
    };
  };

async function revoke({ issuer, clientId }: SignInTerms, token: string, log: Log): Promise<void> {
  try {
    const { revocation_endpoint: address } = await issuer.metadata();
    if (address === undefined) return;
    const fields = { token, token_type_hint: 'refresh_token', client_id: clientId };
    const { status } = await issuer.post(address, fields);
    if (status !== 200) log('REVOCATION_FAILED', { status });
  } catch (error) {
    log('REVOCATION_FAILED', { error });
  }
}

/**
 * Names the return URL both as the specification does (OpenID Connect RP-Initiated Logout 1.0, 2) and as
 * Cognito does (`logout_uri`); an issuer ignores the parameter that it does not know. No ID token: it would
 * show in URLs and logs.
 */
async function issuerSignOutUrl(
  { issuer, clientId, dashboardOrigin }: SignInTerms,
  log: Log,
): Promise<string> {
  try {
    const { end_session_endpoint: address } = await issuer.metadata();
    if (address === undefined) return '/';
    const location = new URL(address);
    const home = `${dashboardOrigin}/`;
    const parameters = { client_id: clientId, post_logout_redirect_uri: home, logout_uri: home };
    for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value);
    return location.href;
  } catch (error) {
    log('DEPENDENCY_UNAVAILABLE', { error });
    return '/';
  }
}

export const handler = signInRouteHandler(signOut, end);
