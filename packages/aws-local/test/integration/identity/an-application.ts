import { createHash, randomBytes } from 'node:crypto';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import * as z from 'zod';
import type { Identity } from '../../../src/identity/identity.ts';

const Discovery = z.object({
  issuer: z.string(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  userinfo_endpoint: z.url(),
  revocation_endpoint: z.url().optional(),
  end_session_endpoint: z.url(),
  jwks_uri: z.url(),
});

export const Tokens = z.object({
  id_token: z.string(),
  access_token: z.string(),
  refresh_token: z.string(),
  expires_in: z.number(),
});

async function discover(issuer: string): Promise<z.infer<typeof Discovery>> {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`);
  return Discovery.parse(await response.json());
}

/** Verifies an ID token with its issuer's published keys, as the service does. */
export async function verified(
  token: string,
  { issuer, clientId }: Pick<Identity, 'issuer' | 'clientId'>,
): Promise<JWTPayload> {
  const { jwks_uri } = await discover(issuer);
  const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(jwks_uri)), {
    issuer,
    audience: clientId,
    algorithms: ['RS256'],
  });
  return payload;
}

/** A public client that signs users in with a code and PKCE. */
export async function anApplication(
  { issuer, clientId }: Pick<Identity, 'issuer' | 'clientId'>,
  callback = 'http://localhost:3000/signed-in',
) {
  const endpoints = await discover(issuer);
  const verifier = randomBytes(32).toString('base64url');

  function post(url: string, fields: Record<string, string>): Promise<Response> {
    return fetch(url, { method: 'POST', body: new URLSearchParams({ client_id: clientId, ...fields }) });
  }
  return {
    endpoints,

    /** The URL that it sends the browser to. An empty parameter is left out. */
    signInUrl(parameters: Record<string, string> = {}): string {
      const url = new URL(endpoints.authorization_endpoint);
      const all = {
        client_id: clientId,
        response_type: 'code',
        scope: 'openid',
        redirect_uri: callback,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        state: 'the-state',
        nonce: 'the-nonce',
        ...parameters,
      };
      for (const [name, value] of Object.entries(all)) if (value !== '') url.searchParams.set(name, value);
      return url.href;
    },

    /** Exchanges the returned code for tokens. */
    redeem: (code: string, fields: Record<string, string> = {}) =>
      post(endpoints.token_endpoint, {
        grant_type: 'authorization_code',
        code,
        redirect_uri: callback,
        code_verifier: verifier,
        ...fields,
      }),
    refresh: (token: string) =>
      post(endpoints.token_endpoint, { grant_type: 'refresh_token', refresh_token: token }),
    revoke: (token: string) => post(endpoints.revocation_endpoint ?? '', { token }),
  };
}
