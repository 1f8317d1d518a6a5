import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { KEYRING_FRESH_SECONDS, Keyring, UnknownKeyVersion } from '../domain/keyring.ts';
import { Defect } from '../domain/problem.ts';
import { clientOptions } from './clients/clients.ts';
import { countThrottles } from './clients/throttles.ts';

/** Gives `use` the keyring of one secret. */
export type KeyringSource = <T>(use: (ring: Keyring) => T) => Promise<T>;

/** Reads the text of one secret. */
export type SecretValue = () => Promise<string | undefined>;

/** After it a keyring is read again, so that a new version comes into use everywhere. */
const FRESH_MS = KEYRING_FRESH_SECONDS * 1000;

/**
 * How long after a version was looked for in vain none is looked for: whoever makes up versions must not keep
 * the secret store busy.
 */
const IN_VAIN_MS = 10_000;

/**
 * Reads a keyring from Secrets Manager when it is first needed and keeps it. A version that the kept one
 * lacks may be newer than it: it is then read once more before `UnknownKeyVersion` reaches the caller, but
 * not within ten seconds of the last one that was looked for in vain. When a kept keyring cannot be read
 * again it goes on being used for as long again, because its versions do not expire; asking at each call
 * would make every request wait for a secret store that is down.
 */
export function keyringSource(secretValue: SecretValue, now = Date.now): KeyringSource {
  let kept: { ring: Keyring; readAt: number } | undefined;
  let reading: Promise<Keyring> | undefined;
  let inVainAt = Number.NEGATIVE_INFINITY;

  async function fetchRing(): Promise<Keyring> {
    const ring = Keyring.parse(parseJson((await secretValue()) ?? 'null'));
    kept = { ring, readAt: now() };
    return ring;
  }

  /** Several callers at once share one request. */
  function read(): Promise<Keyring> {
    reading ??= fetchRing().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  async function current(): Promise<Keyring> {
    if (kept === undefined) return read();
    if (now() - kept.readAt < FRESH_MS) return kept.ring;
    const { ring } = kept;
    return read().catch(() => {
      kept = { ring, readAt: now() };
      return ring;
    });
  }

  return async (use) => {
    const ring = await current();
    try {
      return use(ring);
    } catch (error) {
      if (!(error instanceof UnknownKeyVersion)) throw error;
      if (now() - inVainAt < IN_VAIN_MS) throw error;
      const newer = await read();
      try {
        return use(newer);
      } catch (again) {
        if (again instanceof UnknownKeyVersion) inVainAt = now();
        throw again;
      }
    }
  };
}

/** @throws an error that, unlike the parser's own, does not quote the secret */
function parseJson(secret: string): unknown {
  try {
    return JSON.parse(secret);
  } catch {
    throw new Defect('the keyring is not JSON');
  }
}

/**
 * Made when a secret is first read: a client takes 2 ms to make, and a list whose first page is all needs
 * none.
 */
let client: SecretsManagerClient | undefined;

/** Reads a secret that is text. @param id its name or ARN */
export const secretValue =
  (id: string): SecretValue =>
  async () => {
    client ??= countThrottles(new SecretsManagerClient(clientOptions()), 'secretsmanager');
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    return SecretString;
  };
