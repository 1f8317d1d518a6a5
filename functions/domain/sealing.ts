import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { getCurrentVersion, getKey, type Keyring, listVersions, UnknownKeyVersion } from './keyring.ts';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * What a sealed text is for: its key is derived for this alone, so that nothing sealed for one purpose opens
 * for another.
 */
export interface Purpose {
  /** Label of the key's derivation (HKDF's `info`, RFC 5869). */
  label: string;
  /** What the text is bound to: it opens for the same alone, and does not contain it. */
  bound: string;
}

/**
 * With what a text is sealed. The same text under the same seal is the same to the byte; another text must
 * never be sealed under it.
 */
export const Seal = z.object({
  /** Of the key. */
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
 * Seals a text: AES-256-GCM, in base64url. It shows nothing but its length and cannot be altered.
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

/** What was sealed, or undefined when it was not sealed by us for this purpose. */
export function unseal(ring: Keyring, text: string, purpose: Purpose): string | undefined {
  // Buffer.from skips characters that are not base64url, and a last character may carry unused bits: both
  // would let an altered text through, so only the one spelling that we write is read.
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
 * Demands a look at a newer keyring before a text is opened that says to be of a version after the newest one
 * at hand. Everybody can write that into a text: what follows from it has to be bounded.
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

/** What a cursor is bound to: opened for another listing, it does not open at all. */
export interface CursorBinding {
  /** The effective organization and generation. */
  tenant: string;
  route: string;
  /** Path parameters and filters of the listing, in a fixed order. */
  filters: readonly string[];
}

/**
 * Seals the position of the last item of a page (public-api.md, Versioning 7). It shows nothing and cannot be
 * altered or carried elsewhere.
 * @param position the identifier after which the next page begins
 */
export const sealCursor = (ring: Keyring, position: string, binding: CursorBinding): string =>
  seal(ring, position, toPurpose(binding), createSeal(ring));

/** The position that a cursor holds, or undefined when it is not one of ours for this binding. */
export const openCursor = (ring: Keyring, cursor: string, binding: CursorBinding): string | undefined =>
  unseal(ring, cursor, toPurpose(binding));

const toPurpose = (binding: CursorBinding): Purpose => ({
  label: 'pagination-cursor',
  bound: JSON.stringify([binding.tenant, binding.route, ...binding.filters]),
});
