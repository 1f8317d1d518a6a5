import { Keyring, UnknownKeyVersion } from '../domain/keyring.ts';

/** Gives `use` the keyring of one secret. */
export type KeyringSource = <T>(use: (ring: Keyring) => T) => Promise<T>;

/** Reads the text of one secret. */
export type SecretValue = () => Promise<string | undefined>;

/** How long a keyring is used before it is read again, so that a new version comes into use everywhere. */
const FRESH_MS = 5 * 60_000;

/**
 * Reads a keyring from Secrets Manager when it is first needed and keeps it. A version that the kept one lacks may be newer
 * than it: it is then read once more before `UnknownKeyVersion` reaches the caller. When a kept keyring cannot be read again it
 * goes on being used for as long again, because its versions do not expire; asking at each call would make every request
 * wait for a secret store that is down.
 */
export function keyringSource(secretValue: SecretValue, now = Date.now): KeyringSource {
  let kept: { ring: Keyring; readAt: number } | undefined;
  let reading: Promise<Keyring> | undefined;

  async function fetchRing(): Promise<Keyring> {
    const ring = Keyring.parse(jsonOf((await secretValue()) ?? 'null'));
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
      const newer = await read();
      return use(newer);
    }
  };
}

/** @throws an error that, unlike the parser's own, does not quote the secret */
function jsonOf(secret: string): unknown {
  try {
    return JSON.parse(secret);
  } catch {
    throw new Error('the keyring is not JSON');
  }
}
