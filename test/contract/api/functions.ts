import { globSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { CompactSign, exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, vi } from 'vitest';
import { routes } from '../../../functions/api/routes.ts';
import type { Operation } from '../../fuzz/document.ts';
import type { Exchange, Sent } from '../../support/exchange.ts';
import { aGatewayEvent, FUNCTION_ENVIRONMENT, INVOCATION } from '../../support/functions.ts';

export type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

const ROOT = join(import.meta.dirname, '../../../');
const { OIDC_AUDIENCE, OIDC_ORGANIZATION_CLAIM, OIDC_ROLE_CLAIM } = FUNCTION_ENVIRONMENT;

const FILES = new Map(
  globSync('functions/api/*/*.ts', { cwd: ROOT }).map((file) => [basename(file, '.ts'), join(ROOT, file)]),
);

/** Loads the function of a route by its name. */
export const importHandler = async (name: string): Promise<Handler> =>
  (await import(FILES.get(name) ?? name)).handler;

/** An issuer of sessions on a free loopback port. */
export async function anIssuer() {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'a-key', alg: 'RS256', use: 'sig' };
  const server = createServer(({ url }, response) => {
    const documents: Record<string, object> = {
      '/.well-known/openid-configuration': { issuer, jwks_uri: `${issuer}/keys` },
      '/keys': { keys: [jwk] },
    };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(documents[url ?? ''] ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const now = Math.floor(Date.now() / 1000);
  return {
    issuer,
    token: (orgId: string): Promise<string> =>
      new CompactSign(
        Buffer.from(
          JSON.stringify({
            iss: issuer,
            aud: OIDC_AUDIENCE,
            sub: 'ada',
            iat: now,
            exp: now + 3600,
            [OIDC_ORGANIZATION_CLAIM]: orgId,
            [OIDC_ROLE_CLAIM]: 'admin',
          }),
        ),
      )
        .setProtectedHeader({ alg: 'RS256', kid: 'a-key' })
        .sign(privateKey),
    close: () => server.close(),
  };
}

/** What the tests of a file share, once they begin. */
export interface Loaded {
  functionOf(operation: Operation): Handler;
  /** A token of an admin of the organization. */
  session: string;
}

/**
 * Loads the functions for the tests of a file, with an issuer of their own.
 * @param orgId of the session
 */
export function loadedFunctions(orgId: string): Loaded {
  const loaded = {} as Loaded;
  let close: (() => void) | undefined;
  beforeAll(async () => {
    const issuer = await anIssuer();
    close = issuer.close;
    loaded.functionOf = await loadFunctions(issuer.issuer);
    loaded.session = await issuer.token(orgId);
  });
  afterAll(() => {
    close?.();
    vi.unstubAllEnvs();
  });
  return loaded;
}

/**
 * Loads the function of every operation, in an environment with names of tables and secrets that only the
 * mocks have.
 */
async function loadFunctions(issuer: string): Promise<(operation: Operation) => Handler> {
  const environment = {
    ...FUNCTION_ENVIRONMENT,
    LOG_LEVEL: 'SILENT',
    METRICS_NAMESPACE: undefined,
    OIDC_ISSUER: issuer,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  // The functions read it when they are loaded, which another file may have done.
  vi.resetModules();
  const handlers = new Map<string, Handler>();
  for (const [id, { name }] of Object.entries(routes)) handlers.set(id, await importHandler(name));
  return ({ firstId }) => {
    const handler = handlers.get(firstId);
    if (handler === undefined) throw new Error(`no route has the operation id ${firstId}`);
    return handler;
  };
}

/**
 * Calls a function as the gateway would.
 * @returns the answer as a client would receive it
 */
export async function call(handler: Handler, { path }: Operation, sent: Sent): Promise<Exchange> {
  const { headers = {}, statusCode, body } = await handler(buildEvent(path, sent), INVOCATION);
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
  return { sent, status: statusCode, headers: Object.fromEntries(lower), text: body };
}

function buildEvent(path: string, { method, target, headers, body }: Sent): APIGatewayProxyEvent {
  const names = path.split('/');
  const values = target.split('/');
  const parameters = names.flatMap((name, index) =>
    name.startsWith('{') ? [[name.slice(1, -1), values[index]] as const] : [],
  );
  return aGatewayEvent({
    httpMethod: method,
    path: target,
    resource: path.replace('/api', ''),
    headers: Object.fromEntries(headers),
    pathParameters: parameters.length === 0 ? null : Object.fromEntries(parameters),
    body: body ?? null,
  });
}
