import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { currentVersion, type Keyring, keyOf, UnknownKeyVersion } from './keyring.ts';

/** What a cursor is bound to: opened for another listing, it does not open at all. */
export interface CursorBinding {
  /** The effective organization and generation. */
  tenant: string;
  route: string;
  /** Path parameters and filters of the listing, in a fixed order. */
  filters: readonly string[];
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Seals the position of the last item of a page: AES-256-GCM, the binding as associated data, base64url
 * (public-api.md, Versioning 7). It shows nothing and cannot be altered or carried elsewhere.
 * @param position the identifier after which the next page begins
 */
export function sealCursor(ring: Keyring, position: string, binding: CursorBinding): string {
  const version = currentVersion(ring);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', cursorKey(ring, version), iv).setAAD(associated(binding));
  const sealed = Buffer.concat([cipher.update(position, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.from([Number(version)]), iv, cipher.getAuthTag(), sealed]).toString(
    'base64url',
  );
}

/** The position that a cursor holds, or undefined when it is not one of ours for this binding. */
export function openCursor(ring: Keyring, cursor: string, binding: CursorBinding): string | undefined {
  // Buffer.from skips characters that are not base64url, and a last character may carry unused bits: both would
  // let an altered text through, so only the one spelling that we write is read.
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.toString('base64url') !== cursor) return undefined;
  const [version] = bytes;
  if (version === undefined || bytes.length <= 1 + IV_BYTES + TAG_BYTES) return undefined;
  const iv = bytes.subarray(1, 1 + IV_BYTES);
  const tag = bytes.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv('aes-256-gcm', cursorKey(ring, String(version)), iv)
      .setAAD(associated(binding))
      .setAuthTag(tag);
    const position = decipher.update(bytes.subarray(1 + IV_BYTES + TAG_BYTES));
    return Buffer.concat([position, decipher.final()]).toString('utf8');
  } catch (error) {
    if (error instanceof UnknownKeyVersion || isAuthenticationFailure(error)) return undefined;
    throw error;
  }
}

const cursorKey = (ring: Keyring, version: string): Buffer =>
  Buffer.from(hkdfSync('sha256', keyOf(ring, version), '', 'pagination-cursor', 32));

const associated = (binding: CursorBinding): Buffer =>
  Buffer.from(JSON.stringify([binding.tenant, binding.route, ...binding.filters]));

const isAuthenticationFailure = (error: unknown): boolean =>
  error instanceof Error && /unable to authenticate/i.test(error.message);
