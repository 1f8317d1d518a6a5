import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import * as z from 'zod/mini';
import { refreshedValue } from './cache.ts';
import { countThrottles, leanClientOptions } from './clients.ts';
import { Defect } from './logger.ts';

/**
 * Versions of one secret as stored: `{"current":"1","1":"…","2":"…"}`. Old versions remain to verify what was
 * made with them; new things use `current`.
 */
export const Keyring = z
  .record(z.string().check(z.regex(/^(current|[1-9][0-9]?)$/)), z.string().check(z.minLength(1)))
  .check(
    z.refine((ring) => ring.current !== undefined && (ring[ring.current]?.length ?? 0) >= 43, {
      error: 'must name its current version, a key of at least 43 characters',
    }),
  );
export type Keyring = z.infer<typeof Keyring>;

/** Age after which a function reads a keyring again, so that new versions come into use. */
export const KEYRING_FRESH_SECONDS = 300;

/** The cached keyring does not have the version: it is newer, or was removed. */
export class UnknownKeyVersion extends Error {
  override name = 'UnknownKeyVersion';
}

/** @throws UnknownKeyVersion */
export function getKey(ring: Keyring, version: string): string {
  // Own properties only: every object has inherited names such as `constructor`.
  const key = version !== 'current' && Object.hasOwn(ring, version) ? ring[version] : undefined;
  if (key === undefined) throw new UnknownKeyVersion(`no key of version ${version}`);
  return key;
}

export function getCurrentVersion(ring: Keyring): string {
  const version = ring.current;
  if (version === undefined) throw new UnknownKeyVersion('the keyring names no current version');
  return version;
}

/** All versions, oldest first. */
export const listVersions = (ring: Keyring): number[] =>
  Object.keys(ring)
    .filter((name) => name !== 'current')
    .map(Number)
    .sort((a, b) => a - b);

/** Calls `use` with the keyring of one secret. */
export type KeyringSource = <T>(use: (ring: Keyring) => T) => Promise<T>;

/** Pause after a read for a version that does not exist: made-up versions must not load the secret store. */
const MISS_PAUSE_MS = 10_000;

/**
 * Caches a keyring of Secrets Manager. For a version that the cached keyring lacks it is read once more
 * before `UnknownKeyVersion` reaches the caller, but not within ten seconds of a read that did not find one.
 * When a read fails, the cached keyring is used for another period: its versions do not expire, and requests
 * do not wait for a secret store that is down.
 */
export function keyringSource(secretValue: () => Promise<string | undefined>, now = Date.now): KeyringSource {
  const current = refreshedValue(async () => Keyring.parse(parseJson((await secretValue()) ?? 'null')), {
    freshMs: KEYRING_FRESH_SECONDS * 1000,
    retryMs: KEYRING_FRESH_SECONDS * 1000,
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
export const secretValue = (id: string) => async () => {
  client ??= countThrottles(new SecretsManagerClient(leanClientOptions('secretsmanager')), 'secretsmanager');
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
  return SecretString;
};

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Purpose of a sealed text. Each has a key of its own: a text sealed for one does not open for another. */
export interface Purpose {
  /** HKDF's `info` (RFC 5869). */
  label: string;
  /** Context that the text is bound to without containing it (associated data). */
  bound: string;
}

/**
 * Key version and nonce. The same text under the same seal has the same bytes; another text must never use
 * the same seal.
 */
export const Seal = z.object({
  version: z.string(),
  /** 96 bits, random; base64url. */
  iv: z.string(),
});
export type Seal = z.infer<typeof Seal>;

export const createSeal = (ring: Keyring): Seal => ({
  version: getCurrentVersion(ring),
  iv: randomBytes(IV_BYTES).toString('base64url'),
});

/**
 * Seals a text with AES-256-GCM, in base64url: only its length shows, and it cannot be altered.
 * @throws UnknownKeyVersion
 */
export function seal(ring: Keyring, text: string, purpose: Purpose, { version, iv }: Seal): string {
  const bytes = Buffer.from(iv, 'base64url');
  const cipher = createCipheriv('aes-256-gcm', derivePurposeKey(ring, version, purpose), bytes).setAAD(
    Buffer.from(purpose.bound),
  );
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.from([Number(version)]), bytes, cipher.getAuthTag(), body]).toString(
    'base64url',
  );
}

/** Returns the text; undefined when the service did not seal it for this purpose. */
export function unseal(ring: Keyring, text: string, purpose: Purpose): string | undefined {
  // Buffer.from skips characters outside base64url, and the last character can carry unused bits: an
  // altered text would open. Only the canonical spelling is accepted.
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) return undefined;
  const [version] = bytes;
  if (version === undefined || bytes.length <= 1 + IV_BYTES + TAG_BYTES) return undefined;
  const iv = bytes.subarray(1, 1 + IV_BYTES);
  const tag = bytes.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv('aes-256-gcm', derivePurposeKey(ring, String(version), purpose), iv)
      .setAAD(Buffer.from(purpose.bound))
      .setAuthTag(tag);
    const body = decipher.update(bytes.subarray(1 + IV_BYTES + TAG_BYTES));
    return Buffer.concat([body, decipher.final()]).toString('utf8');
  } catch (error) {
    if (error instanceof UnknownKeyVersion) return undefined;
    if (error instanceof Error && /unable to authenticate/i.test(error.message)) return undefined;
    throw error;
  }
}

/**
 * Asks for a newer keyring when a text claims a version after the newest cached one. Any caller can write
 * that, so the effect must be bounded.
 * @throws UnknownKeyVersion
 */
export function requireKnownVersion(ring: Keyring, text: string): void {
  const [version] = Buffer.from(text, 'base64url');
  if (version !== undefined && version > (listVersions(ring).at(-1) ?? 0))
    throw new UnknownKeyVersion(`no key of version ${version} yet`);
}

const derivePurposeKey = (ring: Keyring, version: string, { label }: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', getKey(ring, version), '', label, 32));

/** What a cursor is bound to. It does not open for another listing. */
export interface CursorBinding {
  /** Effective organization and generation. */
  tenant: string;
  route: string;
  /** Path parameters and filters of the listing, in a fixed order. */
  filters: readonly string[];
}

/**
 * Seals the position of a page's last item (docs/specification.md, Pagination).
 * @param position id after which the next page begins
 */
export const sealCursor = (ring: Keyring, position: string, binding: CursorBinding): string =>
  seal(ring, position, toPurpose(binding), createSeal(ring));

/** Returns the position; undefined when the cursor was not made for this binding. */
export const openCursor = (ring: Keyring, cursor: string, binding: CursorBinding): string | undefined =>
  unseal(ring, cursor, toPurpose(binding));

const toPurpose = (binding: CursorBinding): Purpose => ({
  label: 'pagination-cursor',
  bound: JSON.stringify([binding.tenant, binding.route, ...binding.filters]),
});
