import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LocalRunError } from '../../../src/errors.ts';
import { startIdentity } from '../../../src/identity/identity.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { verified } from './an-application.ts';
import { admin, anIdentity, organization } from './an-identity.ts';

const stateFile = (directory: string) => join(directory, 'identity.json');

/** The status of an answer to a request with another Host header. */
async function statusFor(issuer: string, host: string): Promise<number | undefined> {
  const { port } = new URL(issuer);
  const sent = request({ host: '127.0.0.1', port, path: '/.well-known/jwks.json', headers: { host } });
  sent.end();
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode;
}

describe('the identity provider', () => {
  it('signs a token for a user with the given lifetime', async () => {
    const { identity } = await anIdentity();
    const claims = await verified(await identity.idToken(admin.email, { lifetimeSeconds: 86_400 }), identity);
    expect(claims).toMatchObject({
      iss: identity.issuer,
      aud: 'Dashboard',
      email: admin.email,
      token_use: 'id',
      'custom:organization': organization,
      'custom:role': 'admin',
    });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(86_400);
  });

  it('has no token for an unknown user', async () => {
    const { identity } = await anIdentity();
    await expect(identity.idToken('nobody@local.test', { lifetimeSeconds: 60 })).rejects.toThrow(
      LocalRunError,
    );
  });

  it('keeps its port when it is restarted, and its tokens stay valid', async () => {
    const first = await anIdentity();
    const token = await first.identity.idToken(admin.email, { lifetimeSeconds: 60 });
    await first.stop();
    const second = await anIdentity({ directory: first.directory });
    expect(second.identity.issuer).toBe(first.identity.issuer);
    expect(await verified(token, second.identity)).toMatchObject({ email: admin.email });
  });

  it('moves when its port was taken meanwhile, and then keeps the new one', async () => {
    const first = await anIdentity();
    await first.stop();
    const intruder = createServer().listen(Number(new URL(first.identity.issuer).port), '127.0.0.1');
    onTestFinished(() => void intruder.close());
    await once(intruder, 'listening');

    const second = await anIdentity({ directory: first.directory });
    expect(second.identity.issuer).not.toBe(first.identity.issuer);
    await second.stop();
    const third = await anIdentity({ directory: first.directory });
    expect(third.identity.issuer).toBe(second.identity.issuer);
  });

  it('keeps the key readable for its owner only', async () => {
    const { directory } = await anIdentity();
    expect((await stat(stateFile(directory))).mode & 0o777).toBe(0o600);
  });

  it('publishes no part of the private key', async () => {
    const { identity, directory } = await anIdentity();
    const { signingKey } = JSON.parse(await readFile(stateFile(directory), 'utf8'));
    const published = await (await fetch(`${identity.issuer}/.well-known/jwks.json`)).json();
    expect(published).toEqual({
      keys: [{ kty: 'RSA', use: 'sig', alg: 'RS256', kid: signingKey.kid, n: signingKey.n, e: signingKey.e }],
    });
  });

  it.each(['', 'not JSON', '{"port":1}'])('starts with a new key when its file contains %j', async (text) => {
    const first = await anIdentity();
    await first.stop();
    await writeFile(stateFile(first.directory), text);
    const { identity } = await anIdentity({ directory: first.directory });
    const token = await identity.idToken(admin.email, { lifetimeSeconds: 60 });
    expect(await verified(token, identity)).toMatchObject({ email: admin.email });
  });

  it('answers under its own name only', async () => {
    const { identity } = await anIdentity();
    expect(await statusFor(identity.issuer, new URL(identity.issuer).host)).toBe(200);
    expect(await statusFor(identity.issuer, 'rebound.example')).toBe(421);
  });

  it('leaves no server open when the user pool is refused', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<string>();
    const refused = startIdentity({
      directory: temporaryDirectory(),
      define(issuer) {
        resolve(issuer);
        throw new LocalRunError('refused');
      },
      onLog: () => undefined,
    });
    await expect(refused).rejects.toThrow('refused');
    await expect(fetch(await asked)).rejects.toThrow('fetch failed');
  });
});
