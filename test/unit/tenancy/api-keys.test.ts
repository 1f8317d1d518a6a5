import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generateApiKey, hasScope, parseBearerKey, Scope } from '../../../functions/tenancy/api-keys.ts';
import { texts } from '../aws/arbitraries.ts';

const environments = ['live', 'sandbox'] as const;

describe('new API key', () => {
  it.each(environments)('of %s names its environment and has 256 random bits', (environment) => {
    const [, secret] =
      new RegExp(`^ck_${environment}_([A-Za-z0-9_-]{43})$`).exec(generateApiKey(environment)) ?? [];
    expect(Buffer.from(secret ?? '', 'base64url')).toHaveLength(32);
  });

  it.each(environments)('of %s can be parsed from an Authorization header', (environment) => {
    const key = generateApiKey(environment);
    expect(parseBearerKey(`Bearer ${key}`)).toBe(key);
  });
});

describe('Authorization header', () => {
  const key = generateApiKey('live');

  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('accepts the scheme as %s', (scheme) => {
    expect(parseBearerKey(`${scheme} ${key}`)).toBe(key);
  });

  it('accepts several spaces after the scheme', () => {
    expect(parseBearerKey(`Bearer   ${key}`)).toBe(key);
  });

  it.each([
    ['absent', undefined],
    ['empty', ''],
    ['the scheme alone', 'Bearer'],
    ['the scheme and a space', 'Bearer '],
    ['the key alone', key],
    ['no space between', `Bearer${key}`],
    ['a tab between', `Bearer\t${key}`],
    ['a colon between', `Bearer: ${key}`],
    ['another scheme', `Basic ${key}`],
    ['a scheme that ends in the right one', `XBearer ${key}`],
    ['a space before it', ` Bearer ${key}`],
    ['a space behind it', `Bearer ${key} `],
    ['a line break behind it', `Bearer ${key}\n`],
    ['a line break before it', `\nBearer ${key}`],
    ['a second key', `Bearer ${key} ${key}`],
    ['a second value', `Bearer ${key}, Bearer ${key}`],
    ['a parameter', `Bearer ${key};x=1`],
    ['a quoted key', `Bearer "${key}"`],
    ['an unknown environment', `Bearer ${key.replace('live', 'test')}`],
    ['no environment', `Bearer ${key.replace('live_', '')}`],
    ['an upper-case prefix', `Bearer ${key.replace('ck_live', 'CK_LIVE')}`],
    ['a character too few', `Bearer ${key.slice(0, -1)}`],
    ['a character too many', `Bearer ${key}A`],
    ['the alphabet of plain base64', `Bearer ${key.slice(0, -2)}+/`],
    ['padding', `Bearer ${key.slice(0, -1)}=`],
    ['a null character', `Bearer ${key.slice(0, -1)}\0`],
    ['a letter that only looks right', `Bearer ${key.slice(0, -1)}А`],
  ])('has no key when it has %s', (_, header) => {
    expect(parseBearerKey(header)).toBeUndefined();
  });

  it('has no key for any other text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(parseBearerKey(text)).toBeUndefined();
        expect(parseBearerKey(`Bearer ${text}`)).toBeUndefined();
      }),
    );
  });
});

describe('scopes', () => {
  const scopes = fc.constantFrom(...Scope.options);

  it('grant, beyond themselves, only to read what they may write', () => {
    fc.assert(
      fc.property(scopes, scopes, (held, needed) => {
        const [action, resource] = held.split(':');
        const implied = action === 'write' && needed === `read:${resource}`;
        expect(hasScope([held], needed)).toBe(held === needed || implied);
      }),
    );
  });

  it('grant together what each grants alone', () => {
    fc.assert(
      fc.property(fc.subarray([...Scope.options]), scopes, (held, needed) => {
        expect(hasScope(held, needed)).toBe(held.some((scope) => hasScope([scope], needed)));
      }),
    );
  });

  it('grant nothing when there are none', () => {
    for (const needed of Scope.options) expect(hasScope([], needed)).toBe(false);
  });
});
