import { currentVersion, KEYRING_FRESH_SECONDS, type Keyring, versionsOf } from './keyring.ts';

/*
 * How a keyring is changed while functions use it. A version that nobody knows yet must not be used: it is added first, and named current once every
 * function has read it. A version that something may still need must not go: that is for who asks to find out.
 */

/** Versions are one or two digits, as a cursor has a byte for its own and the secret's schema says. */
const LAST_VERSION = 99;

/**
 * How long a version is in the keyring before it is named current: twice the time for which functions use what they have read, because one that could
 * not read its keyring again uses the old one for as long again.
 */
export const KNOWN_AFTER_SECONDS = 2 * KEYRING_FRESH_SECONDS;

/**
 * How long after the last change of its keyring a version that is not current may go. Answers to idempotent calls are kept for a day, and what they hold
 * of a key is its version; tokens of visitors end sooner.
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
 * The next step of a rotation, from what the keyring says alone, so that it can be left and taken up again by anybody.
 * @param hurry name the new version current at once: functions that meet it look for it, but a few answers may be refusals
 * @throws RangeError when there is no version left
 */
export function rotationStepOf(
  { ring, changedAt }: KeyringState,
  now: Date,
  { hurry = false }: { hurry?: boolean } = {},
): RotationStep {
  const newest = versionsOf(ring).at(-1) ?? 0;
  if (newest === Number(currentVersion(ring))) {
    if (newest >= LAST_VERSION) throw new RangeError(`a keyring ends with version ${LAST_VERSION}`);
    return { kind: 'add', version: String(newest + 1) };
  }
  const version = String(newest);
  const until = new Date(changedAt.getTime() + KNOWN_AFTER_SECONDS * 1000);
  return !hurry && now < until ? { kind: 'wait', version, until } : { kind: 'promote', version };
}

/** Why a version cannot go now. */
export type Retirement =
  | { kind: 'allowed' }
  | { kind: 'absent' }
  | { kind: 'current' }
  /** It was added and was never current: it is the one that a rotation has begun with. */
  | { kind: 'coming' }
  | { kind: 'too-soon'; until: Date };

/** Whether a version may go, as far as the keyring and the time can tell. Stored things that name it are for who asks to look for. */
export function retirementOf({ ring, changedAt }: KeyringState, version: string, now: Date): Retirement {
  if (!versionsOf(ring).includes(Number(version))) return { kind: 'absent' };
  const current = currentVersion(ring);
  if (version === current) return { kind: 'current' };
  if (Number(version) > Number(current)) return { kind: 'coming' };
  const until = new Date(changedAt.getTime() + UNUSED_AFTER_SECONDS * 1000);
  return now < until ? { kind: 'too-soon', until } : { kind: 'allowed' };
}

/** The keyring with one more version, which is not current. */
export const withVersion = (ring: Keyring, version: string, key: string): Keyring => ({
  ...ring,
  [version]: key,
});

/** The keyring with another current version, one that it has. */
export const naming = (ring: Keyring, version: string): Keyring => ({ ...ring, current: version });

/** The keyring without a version. */
export const withoutVersion = (ring: Keyring, version: string): Keyring =>
  Object.fromEntries(Object.entries(ring).filter(([name]) => name !== version));
