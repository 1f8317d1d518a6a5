import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CompactSign, exportJWK, generateKeyPair, type JWK } from 'jose';
import { onTestFinished } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { issuerAt, type SessionSettings, sessionVerifier } from '../../../functions/tenancy/sessions.ts';
import { NOW } from '../../builders.ts';

/** A key pair with which an issuer signs, and which it publishes. */
export interface IssuerKey {
  alg: string;
  privateKey: Parameters<CompactSign['sign']>[0];
  jwk: JWK & { kid: string };
}

export async function aKey(alg: string, kid: string): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** Replaces the issuer's own answers. */
export const wrongly = {
  answering: (status: number, body: unknown = '', headers: Record<string, string> = {}): RequestListener => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return (_, response) => response.writeHead(status, headers).end(text);
  },
  hangingUp: (({ socket }) => socket.destroy()) satisfies RequestListener,
  never: (() => undefined) satisfies RequestListener,
};

/** An OpenID provider on a free loopback port, with the endpoints that verifiers of its tokens use. */
export interface Issuer {
  url: string;
  /** Published from the next request on. */
  keys: JWK[];
  /** Paths of the requests so far. */
  requests: string[];
  /** Members of the discovery document that differ from a valid one. */
  discovery: Record<string, unknown>;
  /** Answers at further paths. */
  further: Record<string, RequestListener>;
  /** When set, answers instead, at all paths or at one. */
  fault?: { path?: string; answer: RequestListener } | undefined;
}

export const DISCOVERY = '/.well-known/openid-configuration';
export const KEYS = '/keys';

/** The published documents, by path. */
export const documentsOf = ({ url, keys, discovery }: Issuer): Record<string, object> => ({
  [DISCOVERY]: { issuer: url, jwks_uri: `${url}${KEYS}`, ...discovery },
  [KEYS]: { keys },
});

export async function anIssuer(...keys: IssuerKey[]): Promise<Issuer> {
  const issuer: Issuer = {
    url: '',
    keys: keys.map(({ jwk }) => jwk),
    requests: [],
    discovery: {},
    further: {},
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    issuer.requests.push(path);
    const { fault } = issuer;
    if (fault && (fault.path ?? path) === path) return fault.answer(request, response);
    const further = issuer.further[path];
    if (further) return further(request, response);
    const document = documentsOf(issuer)[path.split('?')[0] ?? ''];
    response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return issuer;
}

export const CLIENT = 'dashboard-client';
export const ORGANIZATION = newId('org', NOW);
const seconds = (date: Date) => Math.floor(date.getTime() / 1000);

/** The claims of an admin who signed in just now. Undefined removes a claim. */
const claimsOf = (issuer: Issuer, changes: Record<string, unknown> = {}) => ({
  iss: issuer.url,
  aud: CLIENT,
  sub: 'user-1',
  iat: seconds(NOW),
  exp: seconds(NOW) + 3600,
  email: 'admin@example.com',
  'custom:organization': ORGANIZATION,
  'custom:role': 'admin',
  ...changes,
});

export interface TokenChanges {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  /** Replaces the claims. */
  payload?: string;
}

/** A token that the issuer signed with a key, valid unless changed. */
export function aToken(
  issuer: Issuer,
  { alg, jwk, privateKey }: IssuerKey,
  { claims, header = {}, payload = JSON.stringify(claimsOf(issuer, claims)) }: TokenChanges = {},
): Promise<string> {
  const crit = Array.isArray(header.crit) ? Object.fromEntries(header.crit.map((name) => [name, true])) : {};
  return new CompactSign(Buffer.from(payload))
    .setProtectedHeader({ alg, kid: jwk.kid, typ: 'JWT', ...header })
    .sign(privateKey, { crit });
}

export const verifierOf = (
  { url }: { url: string },
  changes: Partial<SessionSettings> = {},
  timeoutMs?: number,
) =>
  sessionVerifier(
    {
      issuer: url,
      audience: CLIENT,
      organizationClaim: 'custom:organization',
      roleClaim: 'custom:role',
      ...changes,
    },
    issuerAt(url, timeoutMs),
  );
