import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import {
  getCurrentVersion,
  type Keyring,
  type KeyringSource,
  keyringSource,
  openCursor,
  requireKnownVersion,
  sealCursor,
} from '../../../functions/aws/keyrings.ts';
import { deriveSigningSecret } from '../../../functions/delivery/signature.ts';
import { addVersion, decideRotationStep, setCurrentVersion } from '../../../lib/operate/key-rotation.ts';
import { aKeyring } from '../../builders.ts';

const INSTANCES = 3;
const BINDING = { tenant: 'org_1#0', route: 'list', filters: [] };
const POSITION = newId('dlv', new Date(0));
const ENDPOINT = newId('whk', new Date(0));

/**
 * Steps in any order: an operator continues the rotation, and instances use the keyring that each has loaded.
 */
const instance = fc.nat({ max: INSTANCES - 1 });
const happening = fc.oneof(
  fc.record({ kind: fc.constant('pass' as const), seconds: fc.nat({ max: 700 }) }),
  fc.record({ kind: fc.constant('rotate' as const), hurry: fc.boolean() }),
  fc.record({ kind: fc.constant('outage' as const), down: fc.boolean() }),
  fc.record({ kind: fc.constant('make' as const), by: instance }),
  fc.record({ kind: fc.constant('use' as const), by: instance, which: fc.nat() }),
);

/** The secret, a clock, and instances that load the secret at different times. */
function aWorld() {
  const world = { ring: aKeyring(), changedAt: new Date(0), time: 0, down: false };
  const secretValue = async () => {
    if (world.down) throw new Error('down');
    return JSON.stringify(world.ring);
  };
  const sources = Array.from({ length: INSTANCES }, () => keyringSource(secretValue, () => world.time));
  const change = (ring: Keyring) => Object.assign(world, { ring, changedAt: new Date(world.time) });
  return {
    world,
    /** Undefined while the secret store is down and the instance has no keyring yet. */
    async by<T>(index: number, use: (source: KeyringSource) => Promise<T>): Promise<T | undefined> {
      const source = sources[index] ?? expect.fail('there is no such instance');
      return use(source).catch((error: unknown) => {
        if (world.down && error instanceof Error && error.message === 'down') return undefined;
        throw error;
      });
    },
    rotate(hurry: boolean) {
      const step = decideRotationStep(world, new Date(world.time), { hurry });
      if (step.kind === 'add') change(addVersion(world.ring, step.version, step.version.padStart(43, 'r')));
      if (step.kind === 'promote') change(setCurrentVersion(world.ring, step.version));
    },
  };
}

describe('keyring rotation', () => {
  it('keeps what any instance made valid at every other, however late each reads the keyring', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 60 }), async (happenings) => {
        const { world, by, rotate } = aWorld();
        const made: { cursor: string; keyVersion: string }[] = [];
        for (const it of happenings) {
          if (it.kind === 'pass') world.time += it.seconds * 1000;
          if (it.kind === 'outage') world.down = it.down;
          if (it.kind === 'rotate') rotate(it.hurry);
          if (it.kind === 'make') {
            const cursor = await by(it.by, (source) => source((ring) => sealCursor(ring, POSITION, BINDING)));
            const keyVersion = await by(it.by, (source) => source(getCurrentVersion));
            if (cursor !== undefined && keyVersion !== undefined) made.push({ cursor, keyVersion });
          }
          const wanted = it.kind === 'use' ? made[it.which % (made.length || 1)] : undefined;
          if (it.kind !== 'use' || wanted === undefined) continue;
          const opened = await by(it.by, (source) =>
            source((ring) => {
              requireKnownVersion(ring, wanted.cursor);
              return { position: openCursor(ring, wanted.cursor, BINDING) };
            }),
          );
          if (opened !== undefined) expect(opened.position).toBe(POSITION);
          const secret = await by(it.by, (source) =>
            source((ring) => deriveSigningSecret(ring, wanted.keyVersion, ENDPOINT)),
          );
          if (secret !== undefined)
            expect(secret).toBe(deriveSigningSecret(world.ring, wanted.keyVersion, ENDPOINT));
        }
      }),
      { numRuns: 300 },
    );
  });
});
