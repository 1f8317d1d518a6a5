import type { Log } from '../../aws/log-codes.ts';
import { success } from '../../http/reply.ts';
import { signOut } from './routes.ts';
import { COOKIES, clearCookie, type SignInTerms, type SignInUseCase, signInRouteHandler } from './sign-in.ts';

/**
 * Ends the session, even when the issuer fails. Revokes the refresh token (RFC 7009) if possible, and returns
 * the URL at which the browser signs out of the issuer.
 */
export const end: SignInUseCase<typeof signOut> = async ({ cookie, log }, terms) => {
  const refreshToken = cookie(COOKIES.renewal);
  if (refreshToken !== undefined) await revoke(terms, refreshToken, log);
  return {
    reply: success({ location: await getIssuerSignOutUrl(terms, log) }),
    cookies: Object.values(COOKIES).map(clearCookie),
  };
};

async function revoke({ issuer, clientId }: SignInTerms, token: string, log: Log): Promise<void> {
  try {
    const { revocation_endpoint: url } = await issuer.metadata();
    if (url === undefined) return;
    const fields = { token, token_type_hint: 'refresh_token', client_id: clientId };
    const { status } = await issuer.post(url, fields);
    if (status !== 200) log('REVOCATION_FAILED', { status });
  } catch (error) {
    log('REVOCATION_FAILED', { error });
  }
}

/**
 * Sends the return URL in the standard's parameter (OpenID Connect RP-Initiated Logout 1.0, 2) and in
 * Cognito's (`logout_uri`); issuers ignore unknown parameters. Sends no ID token, which would appear in URLs
 * and logs.
 */
async function getIssuerSignOutUrl({ issuer, clientId, dashboardOrigin }: SignInTerms, log: Log) {
  try {
    const { end_session_endpoint: url } = await issuer.metadata();
    if (url === undefined) return '/';
    const location = new URL(url);
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
