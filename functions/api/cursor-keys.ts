import { type Keyring, UnknownKeyVersion } from '../domain/keyring.ts';
import { requireKnownVersion } from '../domain/sealing.ts';
import { keyringSource, secretValue } from '../platform/keyrings.ts';
import { environment } from './route-handler.ts';

/** The keys that seal what clients carry about: cursors, and the tokens of visitors. */
export const cursorKeys = keyringSource(secretValue(environment.CURSOR_KEYS));

/**
 * Opens what another instance may have sealed with a version that this one has not read yet.
 * @param text what was sealed
 * @param open gives undefined when it is none of ours, as this does
 */
export async function opening<T>(
  text: string,
  open: (ring: Keyring) => T | undefined,
): Promise<T | undefined> {
  try {
    return await cursorKeys((ring) => {
      requireKnownVersion(ring, text);
      return open(ring);
    });
  } catch (error) {
    if (error instanceof UnknownKeyVersion) return undefined;
    throw error;
  }
}
