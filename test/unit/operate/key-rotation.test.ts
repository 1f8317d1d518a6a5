import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getKey, Keyring, listVersions } from '../../../functions/aws/keyrings.ts';
import {
  addVersion,
  checkRetirement,
  decideRotationStep,
  type KeyringState,
  KNOWN_AFTER_SECONDS,
  setCurrentVersion,
  UNUSED_AFTER_SECONDS,
} from '../../../lib/operate/key-rotation.ts';
import { aKeyring, later, NOW, seconds } from '../../builders.ts';

const KEY = 'n'.repeat(43);
const state = (ring: Keyring, changedAt = NOW): KeyringState => ({ ring, changedAt });
const added = addVersion(aKeyring(), '2', KEY);
const forgotten = later(NOW, seconds(UNUSED_AFTER_SECONDS));

describe('key rotation', () => {
  it('with `hurry` makes it current at once', () => {
    expect(decideRotationStep(state(added), NOW, { hurry: true })).toEqual({ kind: 'promote', version: '2' });
  });

  it('fails after version 99, which is the last that fits into a cursor', () => {
    expect(() => decideRotationStep(state(aKeyring({ versions: 99 })), NOW)).toThrow(RangeError);
  });

  it('never uses a number again, and never removes a key, for any repetition', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 2000 }), { maxLength: 40 }), (waits) => {
        let now = NOW;
        let current = state(aKeyring());
        for (const wait of waits) {
          now = later(now, seconds(wait));
          const before = current.ring;
          const step = decideRotationStep(current, now);
          if (step.kind === 'add') {
            expect(listVersions(before)).not.toContain(Number(step.version));
            current = state(addVersion(before, step.version, KEY), now);
          } else if (step.kind === 'promote') {
            expect(now.getTime() - current.changedAt.getTime()).toBeGreaterThanOrEqual(
              seconds(KNOWN_AFTER_SECONDS),
            );
            current = state(setCurrentVersion(before, step.version), now);
          }
          Keyring.parse(current.ring);
          for (const version of listVersions(before))
            expect(getKey(current.ring, String(version))).toBe(getKey(before, String(version)));
        }
      }),
    );
  });
});

describe('key version', () => {
  const rotated = setCurrentVersion(added, '2');

  it.each([
    ['current', rotated, '2', 'current'],
    ['about to be current', added, '2', 'coming'],
    ['not there', rotated, '3', 'absent'],
    ['no version', rotated, 'current', 'absent'],
  ])('may not be removed while it is %s', (_, ring, version, kind) => {
    expect(checkRetirement(state(ring), version, forgotten)).toEqual({ kind });
  });
});
