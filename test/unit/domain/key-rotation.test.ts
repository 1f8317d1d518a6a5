import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Keyring,
  type KeyringState,
  KNOWN_AFTER_SECONDS,
  keyOf,
  naming,
  retirementOf,
  rotationStepOf,
  UNUSED_AFTER_SECONDS,
  versionsOf,
  withoutVersion,
  withVersion,
} from '../../../functions/domain/keyring.ts';
import { aKeyring, later, NOW, seconds } from '../../builders.ts';

const KEY = 'n'.repeat(43);
const state = (ring: Keyring, changedAt = NOW): KeyringState => ({ ring, changedAt });
const added = withVersion(aKeyring(), '2', KEY);
const settled = later(NOW, seconds(KNOWN_AFTER_SECONDS));
const forgotten = later(NOW, seconds(UNUSED_AFTER_SECONDS));

describe('a rotation', () => {
  it('adds a version first, which is not current yet', () => {
    expect(rotationStepOf(state(aKeyring()), NOW)).toEqual({ kind: 'add', version: '2' });
    expect(Keyring.parse(added)).toEqual({ ...aKeyring(), '2': KEY });
  });

  it('waits until everybody knows the version, then names it current', () => {
    const wait = { kind: 'wait', version: '2', until: settled };
    expect(rotationStepOf(state(added), NOW)).toEqual(wait);
    expect(rotationStepOf(state(added), later(settled, -1))).toEqual(wait);
    expect(rotationStepOf(state(added), settled)).toEqual({ kind: 'promote', version: '2' });
    expect(Keyring.parse(naming(added, '2')).current).toBe('2');
  });

  it('in a hurry names it current at once', () => {
    expect(rotationStepOf(state(added), NOW, { hurry: true })).toEqual({ kind: 'promote', version: '2' });
  });

  it('begins anew once the version is current', () => {
    expect(rotationStepOf(state(naming(added, '2')), NOW)).toEqual({ kind: 'add', version: '3' });
  });

  it('has no version after 99, which a cursor has no room for', () => {
    expect(() => rotationStepOf(state(aKeyring({ versions: 99 })), NOW)).toThrow(RangeError);
  });

  it('never uses a number again, and never takes a key away, however it is repeated', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 2000 }), { maxLength: 40 }), (waits) => {
        let now = NOW;
        let current = state(aKeyring());
        for (const wait of waits) {
          now = later(now, seconds(wait));
          const before = current.ring;
          const step = rotationStepOf(current, now);
          if (step.kind === 'add') {
            expect(versionsOf(before)).not.toContain(Number(step.version));
            current = state(withVersion(before, step.version, KEY), now);
          } else if (step.kind === 'promote') {
            expect(now.getTime() - current.changedAt.getTime()).toBeGreaterThanOrEqual(
              seconds(KNOWN_AFTER_SECONDS),
            );
            current = state(naming(before, step.version), now);
          }
          Keyring.parse(current.ring);
          for (const version of versionsOf(before))
            expect(keyOf(current.ring, String(version))).toBe(keyOf(before, String(version)));
        }
      }),
    );
  });
});

describe('a version', () => {
  const rotated = naming(added, '2');

  it('may go when it was replaced long enough ago', () => {
    expect(retirementOf(state(rotated), '1', later(forgotten, -1))).toEqual({
      kind: 'too-soon',
      until: forgotten,
    });
    expect(retirementOf(state(rotated), '1', forgotten)).toEqual({ kind: 'allowed' });
    expect(Keyring.parse(withoutVersion(rotated, '1'))).toEqual({ current: '2', '2': KEY });
  });

  it.each([
    ['current', rotated, '2', 'current'],
    ['about to be current', added, '2', 'coming'],
    ['not there', rotated, '3', 'absent'],
    ['no version', rotated, 'current', 'absent'],
  ])('may not go while it is %s', (_, ring, version, kind) => {
    expect(retirementOf(state(ring), version, forgotten)).toEqual({ kind });
  });
});
