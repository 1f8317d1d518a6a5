import 'aws-sdk-client-mock-vitest/extend';
import { inspect } from 'node:util';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  getCurrentVersion,
  getKey,
  type Keyring,
  UnknownKeyVersion,
} from '../../../functions/aws/keyring.ts';
import { keyringSource, secretValue } from '../../../functions/aws/keyrings.ts';
import { aKeyring } from '../../builders.ts';

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

  it('is loaded once for concurrent uses', async () => {
    secrets.on(GetSecretValueCommand).resolves(answer(aKeyring()));
    const { source } = aSource();
    const versions = await Promise.all(Array.from({ length: 50 }, () => source(getCurrentVersion)));
    expect(new Set(versions)).toEqual(new Set(['1']));
    expect(secrets).toHaveReceivedCommandTimes(GetSecretValueCommand, 1);
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
  it('fails the call, and is requested again by the next', async () => {
    secrets.on(GetSecretValueCommand).rejectsOnce(new Error('down')).resolves(answer(aKeyring()));
    const { source } = aSource();
    await expect(source(getCurrentVersion)).rejects.toThrow('down');
    expect(await source(getCurrentVersion)).toBe('1');
  });

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

  it('stays in use when it was loaded before', async () => {
    secrets
      .on(GetSecretValueCommand)
      .resolvesOnce(answer(aKeyring()))
      .rejectsOnce(new Error('down'))
      .resolvesOnce({ SecretString: 'broken' })
      .resolves(answer(aKeyring({ versions: 2 })));
    const { source, pass } = aSource();
    await source(getCurrentVersion);
    pass(FIVE_MINUTES);
    expect(await source(getCurrentVersion)).toBe('1');
    pass(FIVE_MINUTES);
    expect(await source(getCurrentVersion)).toBe('1');
    pass(FIVE_MINUTES);
    expect(await source(getCurrentVersion)).toBe('2');
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
