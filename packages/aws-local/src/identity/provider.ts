import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Adapter, type Context, type Grant, interactionPolicy, Provider } from 'oidc-provider';
import { claimsOf, ID_TOKEN_USE } from './claims.ts';
import { createGrants } from './grants.ts';
import { noticePage, pageHeaders, signOutPage } from './pages.ts';
import { SIGN_IN_PATH, signIn } from './sign-in.ts';
import { SIGN_OUT_PATH, signOut } from './sign-out.ts';
import type { SigningKey } from './state.ts';
import { STANDARD_ATTRIBUTES, type UserPool } from './user-pool.ts';
import type { Users } from './users.ts';

/** Lifetime of a sign-in page and of a browser's session, as in Cognito. */
const SIGN_IN_SECONDS = 60 * 60;
const SESSION_SECONDS = 60 * 60;
const CODE_SECONDS = 5 * 60;

/** Scopes of every user pool, so that a client without one of them gets an error. */
const STANDARD_SCOPES = ['openid', 'email', 'phone', 'profile', 'aws.cognito.signin.user.admin'];

export interface ProviderOptions {
  issuer: string;
  pool: UserPool;
  users: Users;
  key: SigningKey;
  onError(error: unknown): void;
}

/** Handles every request to the identity provider: the protocol by `oidc-provider`, the sign-in page here. */
export function createRequestHandler(
  options: ProviderOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { pool, users, onError } = options;
  const headers = pageHeaders([...pool.callbackUrls, ...pool.logoutUrls]);
  const grants = createGrants();
  const provider = createProvider(options, headers, grants);
  provider.on('error', onError);
  provider.on('server_error', (_, error) => onError(error));
  const answer = provider.callback();
  const leaving = {
    pool,
    sessionCookie: cookieName(options.issuer, 'session'),
    sessions: grants('Session'),
  };
  return async (request, response) => {
    if (request.url?.startsWith(SIGN_IN_PATH)) await signIn({ provider, users, headers }, request, response);
    else if (!(await signOut(leaving, request, response))) await answer(request, response);
  };
}

/** Cookies belong to the host on all ports: local runs and other programs must not share them. */
const cookieName = (issuer: string, name: string): string => `${name}_${new URL(issuer).port}`;

function createProvider(
  { issuer, pool, users, key }: ProviderOptions,
  headers: Record<string, string>,
  grants: (kind: string) => Adapter,
): Provider {
  const show = async (context: Context, page: string) => {
    context.set(headers);
    context.body = page;
  };
  const scopes = pool.scopes.length === 0 ? ['openid'] : [...pool.scopes];
  const cookie = (name: string) => cookieName(issuer, name);
  // First-party client: signing in implies consent.
  const policy = interactionPolicy.base();
  policy.remove('consent');

  return new Provider(issuer, {
    adapter: grants,
    claims: {
      openid: [
        'sub',
        'cognito:username',
        'token_use',
        ...STANDARD_ATTRIBUTES,
        ...pool.customAttributes.keys(),
      ],
    },
    clientAuthMethods: ['none'],
    clientBasedCORS: (_, origin, client) =>
      client.redirectUris.some((address) => URL.parse(address)?.origin === origin),
    clients: [createClient(pool, scopes)],
    // Cognito's ID tokens always contain the attributes.
    conformIdTokenClaims: false,
    cookies: {
      names: { session: cookie('session'), interaction: cookie('sign_in'), resume: cookie('sign_in_resume') },
      keys: [randomBytes(32).toString('base64url')],
    },
    expiresWithSession: async () => false,
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      revocation: { enabled: pool.revocation, allowedPolicy: async () => true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context: Context, form: string) => show(context, signOutPage(form)),
        postLogoutSuccessSource: (context: Context) =>
          show(context, noticePage('Signed out', 'You can close this page.')),
      },
    },
    async findAccount(_, id) {
      const user = users.byId(id);
      return (
        user && {
          accountId: id,
          claims: async (use, scope) => ({
            ...claimsOf(user, pool, scope),
            ...(use === 'id_token' ? ID_TOKEN_USE : {}),
          }),
        }
      );
    },
    interactions: { policy, url: (_, { uid }) => `${SIGN_IN_PATH}${uid}` },
    issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
    jwks: { keys: [key] },
    loadExistingGrant: (context) => loadGrant(context, scopes.join(' ')),
    renderError: (context, { error = '', error_description: description = '' }) =>
      show(
        context,
        noticePage(
          'This cannot go on',
          'The application that sent you here asked for something that is not possible.',
          `${error}: ${description}`,
        ),
      ),
    responseTypes: ['code'],
    rotateRefreshToken: pool.rotation,
    // Same paths as below a Cognito domain, so that clients work with both.
    routes: {
      authorization: '/oauth2/authorize',
      token: '/oauth2/token',
      userinfo: '/oauth2/userInfo',
      revocation: '/oauth2/revoke',
      jwks: '/.well-known/jwks.json',
      end_session: SIGN_OUT_PATH,
    },
    scopes: [...new Set([...STANDARD_SCOPES, ...scopes])],
    ttl: {
      AccessToken: pool.lifetimes.accessToken,
      AuthorizationCode: CODE_SECONDS,
      Grant: Math.max(pool.lifetimes.refreshToken, SESSION_SECONDS),
      IdToken: pool.lifetimes.idToken,
      Interaction: SIGN_IN_SECONDS,
      RefreshToken: pool.lifetimes.refreshToken,
      Session: SESSION_SECONDS,
    },
  });
}

/** A public client with PKCE (RFC 7636). */
function createClient(pool: UserPool, scopes: readonly string[]): Record<string, unknown> {
  const addresses = [...pool.callbackUrls, ...pool.logoutUrls];
  const isWeb = addresses.every((address) => /^https?:/.test(address));
  const signsIn = pool.callbackUrls.length > 0;
  return {
    client_id: pool.clientId,
    application_type: isWeb ? 'web' : 'native',
    token_endpoint_auth_method: 'none',
    grant_types: signsIn ? ['authorization_code', 'refresh_token'] : [],
    response_types: signsIn ? ['code'] : [],
    redirect_uris: pool.callbackUrls,
    post_logout_redirect_uris: pool.logoutUrls,
    scope: scopes.join(' '),
    id_token_signed_response_alg: 'RS256',
  };
}

/** Grants the client everything that it may request. */
async function loadGrant({ oidc }: Context, scope: string): Promise<Grant | undefined> {
  const { provider, client, session } = oidc;
  if (!client || session.accountId === undefined) return undefined;
  const id = session.grantIdFor(client.clientId);
  const earlier = id === undefined ? undefined : await provider.Grant.find(id);
  if (earlier) return earlier;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope(scope);
  await grant.save();
  return grant;
}
