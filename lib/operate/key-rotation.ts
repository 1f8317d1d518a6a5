import {
  getCurrentVersion,
  KEYRING_FRESH_SECONDS,
  type Keyring,
  listVersions,
} from '../../functions/aws/keyrings.ts';

/*
 * Rotation while functions use a keyring: a version is added first, and becomes current once every function
 * has read it. Whether a version is still in use is for the caller to check.
 */

/** Limited by the secret's schema: two digits. A cursor has one byte for the version. */
const LAST_VERSION = 99;

/**
 * How long a version is in the keyring before it becomes current: twice the cache time, because a function
 * whose read fails uses the old keyring for one more period.
 */
export const KNOWN_AFTER_SECONDS = 2 * KEYRING_FRESH_SECONDS;

/**
 * How long after the last change a version that is not current must stay. Idempotent responses are kept for a
 * day and name their version; visitor tokens end sooner.
 */
export const UNUSED_AFTER_SECONDS = 25 * 3600;

/** A keyring and the time of its last change. */
export interface KeyringState {
  ring: Keyring;
  changedAt: Date;
}

/** Next step of a rotation. */
export type RotationStep =
  /** Adds a version that is not current yet. */
  | { kind: 'add'; version: string }
  /** The newest version is not in every function's cache yet. */
  | { kind: 'wait'; version: string; until: Date }
  /** Makes the newest version current. */
  | { kind: 'promote'; version: string };

/**
 * Decides the next step of a rotation from the keyring alone, so that any operator can continue it.
 * @param hurry makes the new version current at once: a function that does not have it reads the keyring
 * again, but a few requests may fail
 * @throws RangeError when no version number is left
 */
export function decideRotationStep(
  { ring, changedAt }: KeyringState,
  now: Date,
  { hurry = false }: { hurry?: boolean } = {},
): RotationStep {
  const newest = listVersions(ring).at(-1) ?? 0;
  if (newest === Number(getCurrentVersion(ring))) {
    if (newest >= LAST_VERSION)
      throw new RangeError(`no version is left: a keyring has at most ${LAST_VERSION}`);
    return { kind: 'add', version: String(newest + 1) };
  }
  const version = String(newest);
  const until = new Date(changedAt.getTime() + KNOWN_AFTER_SECONDS * 1000);
  return !hurry && now < until ? { kind: 'wait', version, until } : { kind: 'promote', version };
}

/** Whether a version can be removed now, and why not. */
export type KeyRetirement =
  | { kind: 'allowed' }
  | { kind: 'absent' }
  | { kind: 'current' }
  /** A rotation has just added it, and it was never current. */
  | { kind: 'coming' }
  | { kind: 'too-soon'; until: Date };

/** Checks what the keyring and the time allow. The caller checks stored rows that name the version. */
export function checkRetirement(
  { ring, changedAt }: KeyringState,
  version: string,
  now: Date,
): KeyRetirement {
  if (!listVersions(ring).includes(Number(version))) return { kind: 'absent' };
  const current = getCurrentVersion(ring);
  if (version === current) return { kind: 'current' };
  if (Number(version) > Number(current)) return { kind: 'coming' };
  const until = new Date(changedAt.getTime() + UNUSED_AFTER_SECONDS * 1000);
  return now < until ? { kind: 'too-soon', until } : { kind: 'allowed' };
}

/** Adds a version that is not current. */
export const addVersion = (ring: Keyring, version: string, key: string): Keyring => ({
  ...ring,
  [version]: key,
});

/** Makes an existing version current. */
export const setCurrentVersion = (ring: Keyring, version: string): Keyring => ({ ...ring, current: version });

export const removeVersion = (ring: Keyring, version: string): Keyring =>
  Object.fromEntries(Object.entries(ring).filter(([name]) => name !== version));
