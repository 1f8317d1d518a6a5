import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { refreshedValue } from './cache.ts';
import { clientOptions } from './clients.ts';
import { Defect } from './failure-fields.ts';
import { KEYRING_FRESH_SECONDS, Keyring, UnknownKeyVersion } from './keyring.ts';
import { countThrottles } from './throttles.ts';

/** Calls `use` with the keyring of one secret. */
export type KeyringSource = <T>(use: (ring: Keyring) => T) => Promise<T>;

export type SecretValue = () => Promise<string | undefined>;

/** Age after which a keyring is read again, so that new versions come into use. */
const FRESH_MS = KEYRING_FRESH_SECONDS * 1000;

/** Pause after a read for a version that does not exist: made-up versions must not load the secret store. */
const MISS_PAUSE_MS = 10_000;

/**
 * Caches a keyring of Secrets Manager. For a version that the cached keyring lacks it is read once more
 * before `UnknownKeyVersion` reaches the caller, but not within ten seconds of a read that did not find one.
 * When a read fails, the cached keyring is used for another period: its versions do not expire, and requests
 * do not wait for a secret store that is down.
 */
export function keyringSource(secretValue: SecretValue, now = Date.now): KeyringSource {
  const current = refreshedValue(async () => Keyring.parse(parseJson((await secretValue()) ?? 'null')), {
    freshMs: FRESH_MS,
    retryMs: FRESH_MS,
    now,
  });
  let missedAt = Number.NEGATIVE_INFINITY;

  return async (use) => {
    const ring = await current.get();
    try {
      return use(ring);
    } catch (error) {
      if (!(error instanceof UnknownKeyVersion)) throw error;
      if (now() - missedAt < MISS_PAUSE_MS) throw error;
      const newer = await current.reload();
      try {
        return use(newer);
      } catch (retryError) {
        if (retryError instanceof UnknownKeyVersion) missedAt = now();
        throw retryError;
      }
    }
  };
}

/** @throws an error that does not quote the secret, as the parser's own would */
function parseJson(secret: string): unknown {
  try {
    return JSON.parse(secret);
  } catch {
    throw new Defect('the keyring is not JSON');
  }
}

/** Created on first use: creation takes 2 ms, and a list of one page needs no secret. */
let client: SecretsManagerClient | undefined;

/** @param id name or ARN of the secret */
export const secretValue =
  (id: string): SecretValue =>
  async () => {
    client ??= countThrottles(new SecretsManagerClient(clientOptions()), 'secretsmanager');
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    return SecretString;
  };
