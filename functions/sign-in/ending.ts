import type { Log } from '../platform/log-codes.ts';
import { success } from '../platform/reply.ts';
import { COOKIES, clearCookie } from './cookies.ts';
import type { SignInUseCase } from './handler.ts';
import type { signOut } from './routes.ts';
import type { SignInTerms } from './tokens.ts';

/**
 * Ends the session here, whatever the issuer says, and there as far as it can be: the refresh token is revoked (RFC 7009), and the browser is told
 * where the issuer signs it out.
 */
export const ending =
  (terms: SignInTerms): SignInUseCase<typeof signOut> =>
  async ({ cookie, log }) => {
    const refreshToken = cookie(COOKIES.renewal);
    if (refreshToken !== undefined) await revoke(terms, refreshToken, log);
    return {
      reply: success({ location: await issuersSignOut(terms, log) }),
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
 * By the specification's name for where the browser goes on (OpenID Connect RP-Initiated Logout 1.0, 2) and by Cognito's (`logout_uri`). Who does not
 * know one ignores it. Without an ID token, which would be in the address and in logs.
 */
async function issuersSignOut({ issuer, clientId, dashboardOrigin }: SignInTerms, log: Log): Promise<string> {
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
