import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getCurrentVersion, getKey, Keyring, UnknownKeyVersion } from '../../../functions/aws/keyring.ts';
import { aKeyring } from '../../builders.ts';

const KEY = 'k'.repeat(43);
const accepts = (value: unknown): boolean => Keyring.safeParse(value).success;

describe('keyring', () => {
  it('is accepted as the secret store has it', () => {
    expect(accepts({ current: '1', '1': KEY })).toBe(true);
    expect(accepts({ current: '2', '1': KEY, '2': KEY })).toBe(true);
    expect(accepts({ current: '1', '1': KEY, '2': KEY })).toBe(true);
  });

  it.each([
    ['null', null],
    ['text', 'current'],
    ['nothing', {}],
    ['no current version', { '1': KEY }],
    ['a current version that is missing', { current: '2', '1': KEY }],
    ['a current version that is itself', { current: 'current', '1': KEY }],
    ['a current version that every object has', { current: 'constructor', '1': KEY }],
    ['a current key that is too short', { current: '1', '1': KEY.slice(1) }],
    ['an empty old key', { current: '2', '1': '', '2': KEY }],
    ['a key that is a number', { current: '1', '1': 1 }],
    ['a version of another form', { current: '1', '1': KEY, v2: KEY }],
    ['a version that does not fit into the byte that a cursor has for it', { current: '300', '300': KEY }],
    ['version 0', { current: '0', '0': KEY }],
  ])('cannot be %s', (_, value) => {
    expect(accepts(value)).toBe(false);
  });

  it('has the key of each of its versions, and the current one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99 }), (versions) => {
        const ring = aKeyring({ versions });
        expect(getCurrentVersion(ring)).toBe(String(versions));
        for (let version = 1; version <= versions; version++)
          expect(getKey(ring, String(version))).toBe(ring[String(version)]);
      }),
    );
  });

  it('has no key of any other version', () => {
    const ring = aKeyring({ versions: 2 });
    const names = fc.oneof(
      fc.string(),
      fc.constantFrom('current', '0', '3', '01', '', 'constructor', '__proto__', 'toString'),
    );
    fc.assert(
      fc.property(names, (name) => {
        fc.pre(name !== '1' && name !== '2');
        expect(() => getKey(ring, name)).toThrow(UnknownKeyVersion);
      }),
    );
  });

  it('fails when it has no current version', () => {
    expect(() => getCurrentVersion({ '1': KEY })).toThrow(UnknownKeyVersion);
  });
});
