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
export function getKey(ring: Keyring, version: string): string {
  // Own properties only: every object also answers to names such as `constructor`.
  const key = version !== 'current' && Object.hasOwn(ring, version) ? ring[version] : undefined;
  if (key === undefined) throw new UnknownKeyVersion(`no key of version ${version}`);
  return key;
}

/** The version that new things are made with. */
export function getCurrentVersion(ring: Keyring): string {
  const version = ring.current;
  if (version === undefined) throw new UnknownKeyVersion('the keyring names no current version');
  return version;
}

/** All versions of the keyring, the oldest first. */
export const listVersions = (ring: Keyring): number[] =>
  Object.keys(ring)
    .filter((name) => name !== 'current')
    .map(Number)
    .sort((a, b) => a - b);

/*
 * How a keyring is changed while functions use it. A version that nobody knows yet must not be used: it is
 * added first, and named current once every function has read it. A version that something may still need
 * must not go: that is for who asks to find out.
 */

/** Versions are one or two digits, as a cursor has a byte for its own and the secret's schema says. */
const LAST_VERSION = 99;

/**
 * How long a version is in the keyring before it is named current: twice the time for which functions use
 * what they have read, because one that could not read its keyring again uses the old one for as long again.
 */
export const KNOWN_AFTER_SECONDS = 2 * KEYRING_FRESH_SECONDS;

/**
 * How long after the last change of its keyring a version that is not current may go. Answers to idempotent
 * calls are kept for a day, and what they hold of a key is its version; tokens of visitors end sooner.
 */
export const UNUSED_AFTER_SECONDS = 25 * 3600;

/** A keyring, and when it came to be what it is. */
export interface KeyringState {
  ring: Keyring;
  changedAt: Date;
}

/** What a rotation does next. */
export type RotationStep =
  /** Adds a version, which is not current yet. */
  | { kind: 'add'; version: string }
  /** The newest version is not known everywhere. */
  | { kind: 'wait'; version: string; until: Date }
  /** Names the newest version current. */
  | { kind: 'promote'; version: string };

/**
 * The next step of a rotation, from what the keyring says alone, so that it can be left and taken up again by
 * anybody.
 * @param hurry name the new version current at once: functions that meet it look for it, but a few answers
 * may be refusals
 * @throws RangeError when there is no version left
 */
export function decideRotationStep(
  { ring, changedAt }: KeyringState,
  now: Date,
  { hurry = false }: { hurry?: boolean } = {},
): RotationStep {
  const newest = listVersions(ring).at(-1) ?? 0;
  if (newest === Number(getCurrentVersion(ring))) {
    if (newest >= LAST_VERSION) throw new RangeError(`a keyring ends with version ${LAST_VERSION}`);
    return { kind: 'add', version: String(newest + 1) };
  }
  const version = String(newest);
  const until = new Date(changedAt.getTime() + KNOWN_AFTER_SECONDS * 1000);
  return !hurry && now < until ? { kind: 'wait', version, until } : { kind: 'promote', version };
}

/** Why a version cannot go now. */
export type KeyRetirement =
  | { kind: 'allowed' }
  | { kind: 'absent' }
  | { kind: 'current' }
  /** It was added and was never current: it is the one that a rotation has begun with. */
  | { kind: 'coming' }
  | { kind: 'too-soon'; until: Date };

/**
 * Whether a version may go, as far as the keyring and the time can tell. Stored things that name it are for
 * who asks to look for.
 */
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

/** The keyring with one more version, which is not current. */
export const addVersion = (ring: Keyring, version: string, key: string): Keyring => ({
  ...ring,
  [version]: key,
});

/** The keyring with another current version, one that it has. */
export const setCurrentVersion = (ring: Keyring, version: string): Keyring => ({ ...ring, current: version });

/** The keyring without a version. */
export const removeVersion = (ring: Keyring, version: string): Keyring =>
  Object.fromEntries(Object.entries(ring).filter(([name]) => name !== version));
