import * as z from 'zod/mini';

/**
 * The versions of one secret, as the secret store keeps them: `{"current":"1","1":"…","2":"…"}`. Old versions
 * stay, so that what was made with them keeps verifying; new things use `current`.
 */
export const Keyring = z
  .record(z.string().check(z.regex(/^(current|[1-9][0-9]?)$/)), z.string().check(z.minLength(1)))
  .check(
    z.refine((ring) => ring.current !== undefined && (ring[ring.current]?.length ?? 0) >= 43, {
      error: 'must name its current version, a key of at least 43 characters',
    }),
  );
export type Keyring = z.infer<typeof Keyring>;

/** For how long a function uses the keyring that it has read. */
export const KEYRING_FRESH_SECONDS = 300;

/** A version that the keyring at hand does not have: newer than it, or removed. */
export class UnknownKeyVersion extends Error {
  override name = 'UnknownKeyVersion';
}

/** The key of a version. @throws UnknownKeyVersion */
export function keyOf(ring: Keyring, version: string): string {
  // Own properties only: every object also answers to names such as `constructor`.
  const key = version !== 'current' && Object.hasOwn(ring, version) ? ring[version] : undefined;
  if (key === undefined) throw new UnknownKeyVersion(`no key of version ${version}`);
  return key;
}

/** The version that new things are made with. */
export function currentVersion(ring: Keyring): string {
  const version = ring.current;
  if (version === undefined) throw new UnknownKeyVersion('the keyring names no current version');
  return version;
}

/** All versions of the keyring, the oldest first. */
export const versionsOf = (ring: Keyring): number[] =>
  Object.keys(ring)
    .filter((name) => name !== 'current')
    .map(Number)
    .sort((a, b) => a - b);
