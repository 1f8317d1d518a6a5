import 'aws-sdk-client-mock-vitest/extend';
import { inspect } from 'node:util';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import {
  type CursorBinding,
  getCurrentVersion,
  getKey,
  Keyring,
  keyringSource,
  openCursor,
  sealCursor,
  secretValue,
  UnknownKeyVersion,
} from '../../../functions/aws/keyrings.ts';
import { aKeyring, NOW } from '../../builders.ts';
import { flipped, idsOf, texts } from './arbitraries.ts';

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
});

const FIVE_MINUTES = 5 * 60_000;
const secrets = mockClient(SecretsManagerClient);
const answer = (ring: Keyring) => ({ SecretString: JSON.stringify(ring) });

/** A source of one secret, with a clock that the test moves. */
function aSource() {
  let time = 1_000;
  const source = keyringSource(secretValue('arn:secret'), () => time);
  return { source, pass: (milliseconds: number) => (time += milliseconds) };
}

beforeEach(() => {
  secrets.reset();
});

describe('a keyring', () => {
  it('is loaded at its first use', async () => {
    secrets.on(GetSecretValueCommand).resolves(answer(aKeyring()));
    const { source } = aSource();
    expect(secrets).not.toHaveReceivedCommand(GetSecretValueCommand);
    expect(await source(getCurrentVersion)).toBe('1');
    expect(secrets).toHaveReceivedCommandExactlyOnceWith(GetSecretValueCommand, { SecretId: 'arn:secret' });
  });

  it('is cached for five minutes, then reloaded', async () => {
    secrets
      .on(GetSecretValueCommand)
      .resolvesOnce(answer(aKeyring({ versions: 1 })))
      .resolves(answer(aKeyring({ versions: 2 })));
    const { source, pass } = aSource();
    await source(getCurrentVersion);
    pass(FIVE_MINUTES - 1);
    expect(await source(getCurrentVersion)).toBe('1');
    expect(secrets).toHaveReceivedCommandTimes(GetSecretValueCommand, 1);
    pass(1);
    expect(await source(getCurrentVersion)).toBe('2');
    expect(secrets).toHaveReceivedCommandTimes(GetSecretValueCommand, 2);
  });

  it('is reloaded at once for an unknown version', async () => {
    const newer = aKeyring({ versions: 2 });
    secrets.on(GetSecretValueCommand).resolvesOnce(answer(aKeyring())).resolves(answer(newer));
    const { source } = aSource();
    await source(getCurrentVersion);
    expect(await source((ring) => getKey(ring, '2'))).toBe(newer['2']);
    expect(secrets).toHaveReceivedCommandTimes(GetSecretValueCommand, 2);
  });

  it('is reloaded only once for a version that does not exist', async () => {
    secrets.on(GetSecretValueCommand).resolves(answer(aKeyring()));
    const { source } = aSource();
    await source(getCurrentVersion);
    await expect(source((ring) => getKey(ring, '9'))).rejects.toThrow(UnknownKeyVersion);
    expect(secrets).toHaveReceivedCommandTimes(GetSecretValueCommand, 2);
  });

  it('is not reloaded for ten seconds after a version was not found, even for other unknown versions', async () => {
    secrets.on(GetSecretValueCommand).resolves(answer(aKeyring()));
    const { source, pass } = aSource();
    const ask = (version = '2') => source((ring) => getKey(ring, version));
    for (let version = 2; version < 22; version++)
      await expect(ask(String(version))).rejects.toThrow(UnknownKeyVersion);
    expect(secrets).toHaveReceivedCommandTimes(GetSecretValueCommand, 2);

    secrets.on(GetSecretValueCommand).resolves(answer(aKeyring({ versions: 2 })));
    pass(9_999);
    await expect(ask()).rejects.toThrow(UnknownKeyVersion);
    pass(1);
    expect(await ask()).toBe(aKeyring({ versions: 2 })['2']);
    expect(secrets).toHaveReceivedCommandTimes(GetSecretValueCommand, 3);
  });

  it('is not reloaded for another error of the caller', async () => {
    secrets.on(GetSecretValueCommand).resolves(answer(aKeyring()));
    const { source } = aSource();
    const mistake = () => {
      throw new RangeError('mistake');
    };
    await expect(source(mistake)).rejects.toThrow(RangeError);
    expect(secrets).toHaveReceivedCommandTimes(GetSecretValueCommand, 1);
  });
});

describe('a keyring that cannot be loaded', () => {
  it.each([undefined, '', '{', 'null', '"key"', '{}', '{"current":"1","1":"short"}'])(
    'fails the call when the secret is %j',
    async (SecretString) => {
      secrets.on(GetSecretValueCommand).resolves(SecretString === undefined ? {} : { SecretString });
      await expect(aSource().source(getCurrentVersion)).rejects.toThrow();
    },
  );

  it.each([
    ['is no JSON', 'canary-0123456789'],
    ['is incomplete', '{"current":"1","1":"canary-0123456789'],
    ['is too short', '{"current":"1","1":"canary-0123456789"}'],
  ])('does not appear in the error when it %s', async (_, SecretString) => {
    secrets.on(GetSecretValueCommand).resolves({ SecretString });
    const error = await aSource()
      .source(getCurrentVersion)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(inspect(error)).not.toContain('canary');
  });

  it('is not requested by every call while the secret store is down', async () => {
    secrets.on(GetSecretValueCommand).resolvesOnce(answer(aKeyring())).rejects(new Error('down'));
    const { source, pass } = aSource();
    await source(getCurrentVersion);
    pass(FIVE_MINUTES);
    for (let request = 0; request < 20; request++) expect(await source(getCurrentVersion)).toBe('1');
    expect(secrets).toHaveReceivedCommandTimes(GetSecretValueCommand, 2);
  });
});

const ring = aKeyring({ versions: 2 });
const binding: CursorBinding = { tenant: 'org_1#0', route: 'list-deliveries', filters: ['whk_1'] };

const bindings: fc.Arbitrary<CursorBinding> = fc.record({
  tenant: fc.string(),
  route: fc.string(),
  filters: fc.array(fc.string(), { maxLength: 3 }),
});

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Changes of a cursor's text and bytes. */
const mutations: fc.Arbitrary<(cursor: string) => string> = fc.oneof(
  fc.nat().map((bit) => (cursor: string) => flipped(cursor, bit)),
  fc.nat().map((length) => (cursor: string) => cursor.slice(0, length % cursor.length)),
  fc.nat().map((start) => (cursor: string) => cursor.slice(1 + (start % cursor.length))),
  fc.string({ minLength: 1 }).map((tail) => (cursor: string) => cursor + tail),
  fc.string({ minLength: 1 }).map((head) => (cursor: string) => head + cursor),
  fc.tuple(fc.nat(), fc.constantFrom(...BASE64URL)).map(([at, letter]) => (cursor: string) => {
    const index = at % cursor.length;
    return cursor.slice(0, index) + letter + cursor.slice(index + 1);
  }),
  fc.constantFrom('=', ' ', '\n', '.').map((ignored) => (cursor: string) => `${cursor}${ignored}`),
  fc.constant((cursor: string) => cursor.replaceAll('-', '+').replaceAll('_', '/')),
  fc.constant((cursor: string) => cursor.toLowerCase()),
  fc.constant((cursor: string) => cursor.repeat(2)),
);

describe('cursor', () => {
  it('opens to the sealed position', () => {
    fc.assert(
      fc.property(idsOf('dlv'), bindings, (position, bound) => {
        expect(openCursor(ring, sealCursor(ring, position, bound), bound)).toBe(position);
      }),
    );
  });

  it('reveals nothing of its position, and differs each time', () => {
    const position = newId('dlv', NOW);
    const cursors = Array.from({ length: 100 }, () => sealCursor(ring, position, binding));
    expect(new Set(cursors).size).toBe(cursors.length);
    for (const cursor of cursors)
      expect(Buffer.from(cursor, 'base64url').includes(position.slice(0, 8))).toBe(false);
  });

  it('opens with its own key after a rotation', () => {
    const position = newId('msg', NOW);
    const before = sealCursor(aKeyring({ versions: 1 }), position, binding);
    expect(openCursor(aKeyring({ versions: 3 }), before, binding)).toBe(position);
  });

  it('does not open after any change', () => {
    fc.assert(
      fc.property(idsOf('dlv'), mutations, (position, mutate) => {
        const cursor = sealCursor(ring, position, binding);
        const mutated = mutate(cursor);
        fc.pre(mutated !== cursor);
        expect(openCursor(ring, mutated, binding)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not open for another tenant, route, filter or number of filters', () => {
    fc.assert(
      fc.property(idsOf('dlv'), bindings, bindings, (position, bound, other) => {
        fc.pre(JSON.stringify(bound) !== JSON.stringify(other));
        expect(openCursor(ring, sealCursor(ring, position, bound), other)).toBeUndefined();
      }),
    );
  });

  it('does not open with another key, nor without its key', () => {
    const cursor = sealCursor(ring, newId('dlv', NOW), binding);
    expect(openCursor(aKeyring({ versions: 2, fill: 'm' }), cursor, binding)).toBeUndefined();
    expect(openCursor(aKeyring({ versions: 1 }), cursor, binding)).toBeUndefined();
  });

  it('rejects any other text without an error', () => {
    const bytes = fc.uint8Array({ maxLength: 80 }).map((text) => Buffer.from(text).toString('base64url'));
    fc.assert(
      fc.property(fc.oneof(texts, fc.base64String(), bytes), (text) => {
        expect(openCursor(ring, text, binding)).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });
});
