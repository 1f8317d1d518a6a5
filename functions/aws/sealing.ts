import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { getCurrentVersion, getKey, type Keyring, listVersions, UnknownKeyVersion } from './keyring.ts';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Purpose of a sealed text. Each has a key of its own, so a text sealed for one does not open for another.
 */
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
    if (error instanceof UnknownKeyVersion || isAuthenticationFailure(error)) return undefined;
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

const isAuthenticationFailure = (error: unknown): boolean =>
  error instanceof Error && /unable to authenticate/i.test(error.message);

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
