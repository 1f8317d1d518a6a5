import { createSecretKey, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { EncryptJWT, exportSPKI, importJWK, UnsecuredJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NOW } from '../../builders.ts';
import { aKey, anIssuer, aToken, type Issuer, type IssuerKey, verifierOf } from './issuer-fixture.ts';

const [key, rsa] = await Promise.all([aKey('ES256', 'elliptic'), aKey('RS256', 'rsa')]);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a forged token', () => {
  const claimsOf = async (issuer: Issuer) =>
    JSON.parse(Buffer.from((await aToken(issuer, key)).split('.')[1] ?? '', 'base64url').toString());
  const encoded = (header: object) => Buffer.from(JSON.stringify(header)).toString('base64url');
  const publicKeyOf = async ({ jwk }: IssuerKey) => {
    const imported = await importJWK(jwk, jwk.alg, { extractable: true });
    if (imported instanceof Uint8Array) throw new Error('a public key is not a secret');
    return exportSPKI(imported);
  };
  const hmacKey = (secret: string): IssuerKey => ({
    alg: 'HS256',
    privateKey: createSecretKey(Buffer.from(secret)),
    jwk: { kty: 'oct', kid: 'rsa' },
  });

  it.each<[string, (issuer: Issuer) => string | Promise<string>]>([
    ['is unsecured', async (issuer) => new UnsecuredJWT(await claimsOf(issuer)).encode()],
    ...['none', 'None', 'NONE', '', undefined].map((alg): [string, (issuer: Issuer) => Promise<string>] => [
      `has the algorithm ${alg} and a signature of another`,
      async (issuer) => {
        const [, claims, signature] = (await aToken(issuer, key)).split('.');
        return [encoded({ alg, kid: 'elliptic' }), claims, signature].join('.');
      },
    ]),
    ['has the public key for a secret', async (issuer) => aToken(issuer, hmacKey(await publicKeyOf(rsa)))],
    ['has the published key for a secret', (issuer) => aToken(issuer, hmacKey(JSON.stringify(rsa.jwk)))],
    [
      'is encrypted',
      async (issuer) => {
        const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
        const header = { alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: 'rsa' };
        return new EncryptJWT(await claimsOf(issuer)).setProtectedHeader(header).encrypt(publicKey);
      },
    ],
    [
      'has the signature of another',
      async (issuer) => {
        const [header, claims] = (await aToken(issuer, key)).split('.');
        const other = await aToken(issuer, key, { claims: { sub: 'user-2' } });
        return [header, claims, other.split('.')[2]].join('.');
      },
    ],
    [
      'has the claims of another',
      async (issuer) => {
        const [header, , signature] = (await aToken(issuer, key)).split('.');
        const other = await aToken(issuer, key, { claims: { 'custom:role': 'member' } });
        return [header, other.split('.')[1], signature].join('.');
      },
    ],
    ['is empty', () => ''],
    ['is empty in all its parts', () => '..'],
    ['is text', () => 'session'],
    ['is an API key', () => `ck_live_${'A'.repeat(43)}`],
    ['has two parts', async (issuer) => (await aToken(issuer, key)).split('.').slice(0, 2).join('.')],
    ['has four parts', async (issuer) => `${await aToken(issuer, key)}.AAAA`],
    [
      'is in JSON',
      async (issuer) => {
        const [header, payload, signature] = (await aToken(issuer, key)).split('.');
        return JSON.stringify({ protected: header, payload, signature });
      },
    ],
    ['has a header that is no JSON', () => 'e30x.e30.AAAA'],
    ['has a header that is no object', () => `${encoded([])}.e30.AAAA`],
    ['has plain base64', async (issuer) => `${await aToken(issuer, key)}==`],
    ['has a space before it', async (issuer) => ` ${await aToken(issuer, key)}`],
    ['has a line break behind it', async (issuer) => `${await aToken(issuer, key)}\n`],
    [
      'is there twice',
      async (issuer) => {
        const token = await aToken(issuer, key);
        return `${token},${token}`;
      },
    ],
  ])('is no session when it %s', async (_, make) => {
    const issuer = await anIssuer(key, rsa);
    expect(await verifierOf(issuer)(await make(issuer))).toBeUndefined();
  });

  it('is no session when any part of a valid one was changed', async () => {
    const issuer = await anIssuer(key, rsa);
    const verify = verifierOf(issuer);
    const token = await aToken(issuer, key);
    const bytes = (text: string) =>
      text.split('.').map((part) => Buffer.from(part, 'base64url').toString('hex'));
    const position = fc.nat({ max: token.length - 1 });
    const replacements = fc.string({
      unit: fc.constantFrom(...'ABCXYZabcxyz0123456789-_.='),
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(position, fc.nat({ max: 3 }), replacements, async (at, removed, put) => {
        const changed = token.slice(0, at) + put + token.slice(at + removed);
        // The last digit of the signature has unused bits, so two texts can be the same token.
        fc.pre(bytes(changed).join() !== bytes(token).join());
        expect(await verify(changed)).toBeUndefined();
      }),
      { numRuns: 300 },
    );
    expect(await verify(token)).toMatchObject({ userId: 'user-1', role: 'admin' });
  });
});
