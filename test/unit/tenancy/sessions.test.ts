import { createSecretKey, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { EncryptJWT, exportJWK, exportSPKI, generateKeyPair, importJWK, UnsecuredJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { Role } from '../../../functions/tenancy/tenant.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { idsOf } from '../aws/arbitraries.ts';
import {
  aKey,
  anIssuer,
  aToken,
  CLIENT,
  type Issuer,
  type IssuerKey,
  ORGANIZATION,
  type TokenChanges,
  verifierOf,
} from './issuer-fixture.ts';

const [key, unpublished, rsa, pss, edwards] = await Promise.all([
  aKey('ES256', 'elliptic'),
  aKey('ES256', 'unpublished'),
  aKey('RS256', 'rsa'),
  aKey('PS256', 'pss'),
  aKey('EdDSA', 'edwards'),
]);
const published = [key, rsa, pss, edwards];
const now = NOW.getTime() / 1000;
const admin = {
  userId: 'user-1',
  orgId: ORGANIZATION,
  role: 'admin',
  email: 'admin@example.com',
  expiresAt: later(NOW, seconds(3600)),
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The session of a token whose issuer has all keys. */
async function sessionOf(make: (issuer: Issuer) => string | Promise<string>) {
  const issuer = await anIssuer(...published);
  return verifierOf(issuer)(await make(issuer));
}

const withClaims = (claims: Record<string, unknown>) => (issuer: Issuer) => aToken(issuer, key, { claims });
const withHeader =
  (header: Record<string, unknown>, by: IssuerKey = key) =>
  (issuer: Issuer) =>
    aToken(issuer, by, { header });

describe('a token of the issuer', () => {
  it.each(published.map((each) => [each.alg, each] as const))(
    'is, when signed with %s, the session that its claims name',
    async (_, by) => {
      expect(await sessionOf((issuer) => aToken(issuer, by))).toEqual(admin);
    },
  );

  it.each<[string, TokenChanges]>([
    ['has no type', { header: { typ: undefined } }],
    ['has its type in full', { header: { typ: 'application/JWT' } }],
    ['says that it is an ID token', { claims: { token_use: 'id' } }],
    ['is for this client in a list', { claims: { aud: [CLIENT] } }],
    [
      'is for several clients and was asked for by this one',
      { claims: { aud: ['other', CLIENT], azp: CLIENT } },
    ],
    ['begins within it', { claims: { nbf: now + 30 } }],
    ['is months old and lasts', { claims: { iat: now - 10_000_000 } }],
    ['has additional claims', { claims: { orgId: 'org_other', userId: 'other', 'custom:x': {} } }],
  ])('is a session when it %s', async (_, changes) => {
    expect(await sessionOf((issuer) => aToken(issuer, key, changes))).toEqual(admin);
  });

  it('is still a session when it expired within the clock tolerance', async () => {
    const token = (issuer: Issuer) => aToken(issuer, key, { claims: { exp: now - 29 } });
    expect(await sessionOf(token)).toEqual({ ...admin, expiresAt: later(NOW, seconds(-29)) });
  });

  it.each([undefined, null, '', 7, ['a@example.com'], 'x'.repeat(321)])(
    'is a session without an e-mail address when its e-mail is %j',
    async (email) => {
      expect(await sessionOf(withClaims({ email }))).toEqual({ ...admin, email: null });
    },
  );

  it('is the session of exactly the organization, user and role that it names', async () => {
    const issuer = await anIssuer(key);
    const verify = verifierOf(issuer);
    const users = fc.record({
      userId: fc.string({ minLength: 1, maxLength: 255 }),
      orgId: idsOf('org'),
      role: fc.constantFrom(...Role.options),
    });
    await fc.assert(
      fc.asyncProperty(users, async (user) => {
        const { userId: sub, orgId, role } = user;
        const claims = { sub, 'custom:organization': orgId, 'custom:role': role };
        expect(await verify(await aToken(issuer, key, { claims }))).toMatchObject(user);
      }),
      { numRuns: 30 },
    );
  });

  it('has organization and role in the configured claims', async () => {
    const issuer = await anIssuer(key);
    const token = await aToken(issuer, key, { claims: { tenant: newId('org', NOW), groups: 'member' } });
    const verify = verifierOf(issuer, { organizationClaim: 'tenant', roleClaim: 'groups' });
    expect(await verify(token)).toMatchObject({ userId: 'user-1', role: 'member' });
  });
});

describe('a rejected token', () => {
  it.each<[string, (issuer: Issuer) => string | Promise<string>]>([
    ['is of another issuer', withClaims({ iss: 'https://issuer.example.com' })],
    ['is of an issuer with the same beginning', (issuer) => withClaims({ iss: `${issuer.url}/` })(issuer)],
    ['names no issuer', withClaims({ iss: undefined })],
    ['names a list of issuers', (issuer) => withClaims({ iss: [issuer.url] })(issuer)],
    ['is for another client', withClaims({ aud: 'other' })],
    ['is for a client whose name contains this one', withClaims({ aud: `${CLIENT}2` })],
    ['has no audience', withClaims({ aud: undefined })],
    ['is for other clients', withClaims({ aud: ['other', 'others'] })],
    ['is for an empty list of clients', withClaims({ aud: [] })],
    ['is for several clients and does not say who asked', withClaims({ aud: [CLIENT, 'other'] })],
    ['another client asked for', withClaims({ aud: [CLIENT, 'other'], azp: 'other' })],
    ['is for this client, and another one asked for', withClaims({ azp: 'other' })],
    ['ended', withClaims({ exp: now - 30 })],
    ['does not say when it ends', withClaims({ exp: undefined })],
    ['ends at no number', withClaims({ exp: '9999999999' })],
    ['begins later', withClaims({ nbf: now + 31 })],
    ['does not say when it was issued', withClaims({ iat: undefined })],
    ['was issued at no number', withClaims({ iat: 'now' })],
    ['names no subject', withClaims({ sub: undefined })],
    ['names an empty user', withClaims({ sub: '' })],
    ['names a user who is a number', withClaims({ sub: 7 })],
    ['names a user at too great length', withClaims({ sub: 'x'.repeat(256) })],
    ['names no organization', withClaims({ 'custom:organization': undefined })],
    ['names an organization of another form', withClaims({ 'custom:organization': 'org_1' })],
    ['names a partition', withClaims({ 'custom:organization': `${ORGANIZATION}#webhooks` })],
    ['names a list of organizations', withClaims({ 'custom:organization': [ORGANIZATION] })],
    ['names no role', withClaims({ 'custom:role': undefined })],
    ['names an unknown role', withClaims({ 'custom:role': 'owner' })],
    ['names a role in capitals', withClaims({ 'custom:role': 'Admin' })],
    ['names a list of roles', withClaims({ 'custom:role': ['admin'] })],
    ['is an access token by its use', withClaims({ token_use: 'access' })],
    ['is an access token by its type', withHeader({ typ: 'at+jwt' })],
    ['is a logout token', withHeader({ typ: 'logout+jwt' })],
    ['is signed by an unpublished key', (issuer) => aToken(issuer, unpublished)],
    ['is signed by another key with a published key id', withHeader({ kid: 'elliptic' }, unpublished)],
    ['brings its own key', withHeader({ kid: undefined, jwk: unpublished.jwk }, unpublished)],
    [
      'names no key where several would do',
      async (issuer) => {
        issuer.keys.push(unpublished.jwk);
        return withHeader({ kid: undefined })(issuer);
      },
    ],
    [
      'is signed with an algorithm that is not allowed',
      async (issuer) => {
        const { privateKey, publicKey } = await generateKeyPair('RS512');
        issuer.keys.push({ ...(await exportJWK(publicKey)), kid: 'rs512', use: 'sig' });
        return aToken(issuer, { alg: 'RS512', privateKey, jwk: { kty: 'RSA', kid: 'rs512' } });
      },
    ],
    [
      'is signed by a key that is published for encryption',
      (issuer) => {
        issuer.keys = [{ ...key.jwk, use: 'enc' }];
        return aToken(issuer, key);
      },
    ],
    ['has an extension that must be understood', withHeader({ crit: ['urn:x'], 'urn:x': 1 })],
    ['has claims that are no object', (issuer) => aToken(issuer, key, { payload: '["admin"]' })],
    ['has claims that are no JSON', (issuer) => aToken(issuer, key, { payload: 'admin' })],
    [
      'holds another token',
      async (issuer) => {
        const inner = await aToken(issuer, key);
        return aToken(issuer, key, { payload: inner, header: { cty: 'JWT' } });
      },
    ],
    ['is longer than a header may be', withClaims({ pad: 'x'.repeat(8 * 1024) })],
  ])('%s', async (_, make) => {
    expect(await sessionOf(make)).toBeUndefined();
  });
});

describe('the end of a session', () => {
  it('comes while the verifier runs', async () => {
    const issuer = await anIssuer(key);
    const verify = verifierOf(issuer);
    const token = await aToken(issuer, key);
    vi.setSystemTime(later(NOW, seconds(3600)));
    expect(await verify(token)).toEqual(admin);
    vi.setSystemTime(later(NOW, seconds(3630)));
    expect(await verify(token)).toBeUndefined();
  });
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
    ['has plain base64', async (issuer) => `${await aToken(issuer, key)}==`],
    ['has a line break behind it', async (issuer) => `${await aToken(issuer, key)}\n`],
    [
      'is there twice',
      async (issuer) => {
        const token = await aToken(issuer, key);
        return `${token},${token}`;
      },
    ],
  ])('is no session when it %s', async (_, make) => {
    expect(await sessionOf(make)).toBeUndefined();
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
