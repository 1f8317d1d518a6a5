import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
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
  UnknownKeyVersion,
} from '../../../functions/aws/keyrings.ts';
import { deriveSigningSecret, getSigningKey, sign } from '../../../functions/delivery/signature.ts';
import { addVersion, decideRotationStep, setCurrentVersion } from '../../../lib/operate/key-rotation.ts';
import { aKeyring, NOW } from '../../builders.ts';

const ring = aKeyring();
/** The library compares the timestamp with the real clock, with a tolerance of five minutes. */
const currentSecond = () => Math.floor(Date.now() / 1000);

const buildHeaders = (id: string, timestamp: number | string, signed: string) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': signed,
});
const jsonBodies = fc.jsonValue().map((value) => JSON.stringify(value));

/** An attempt that is signed with a new endpoint's secret. */
function anAttempt(body: string) {
  const secret = deriveSigningSecret(ring, '1', newId('whk', NOW));
  const id = newId('evt', NOW);
  const timestamp = currentSecond();
  return { secret, id, timestamp, body, signed: sign(secret, id, timestamp, Buffer.from(body)) };
}

describe('signing key of an endpoint', () => {
  it('signs as its secret does, for each key version and keyring', () => {
    const [id, body] = [newId('evt', NOW), Buffer.from('{}')];
    const keyring = aKeyring({ versions: 2 });
    const endpoints = [newId('whk', NOW), newId('whk', NOW)];
    for (const master of [keyring, aKeyring({ versions: 2 }), keyring])
      for (const version of ['1', '2'])
        for (const endpoint of endpoints)
          expect(sign(getSigningKey(master, version, endpoint), id, 1, body)).toBe(
            sign(deriveSigningSecret(master, version, endpoint), id, 1, body),
          );
  });

  it('is derived once for a keyring', () => {
    const endpoint = newId('whk', NOW);
    const key = getSigningKey(ring, '1', endpoint);
    expect(getSigningKey(ring, '1', endpoint)).toBe(key);
    expect(getSigningKey({ ...ring }, '1', endpoint)).not.toBe(key);
  });

  it('does not exist for a version that the keyring has not', () => {
    expect(() => getSigningKey(ring, '7', newId('whk', NOW))).toThrow(UnknownKeyVersion);
  });
});

describe('signing secret of an endpoint', () => {
  it('is whsec_ and the base64 of 32 bytes', () => {
    const secret = deriveSigningSecret(ring, '1', newId('whk', NOW));
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
  });

  it('is the same each time it is derived, with any newer keys', () => {
    const endpoint = newId('whk', NOW);
    const secret = deriveSigningSecret(ring, '1', endpoint);
    expect(deriveSigningSecret(ring, '1', endpoint)).toBe(secret);
    expect(deriveSigningSecret(aKeyring({ versions: 3 }), '1', endpoint)).toBe(secret);
  });

  it('differs between endpoints, key versions and master keys', () => {
    const [first, second] = [newId('whk', NOW), newId('whk', NOW)];
    const versions = aKeyring({ versions: 2 });
    const secrets = [
      deriveSigningSecret(versions, '1', first),
      deriveSigningSecret(versions, '1', second),
      deriveSigningSecret(versions, '2', first),
      deriveSigningSecret(aKeyring({ fill: 'm' }), '1', first),
    ];
    expect(new Set(secrets).size).toBe(secrets.length);
  });

  it('cannot be derived with a missing key', () => {
    expect(() => deriveSigningSecret(ring, '2', newId('whk', NOW))).toThrow(UnknownKeyVersion);
  });
});

describe('signature, verified by the library of Standard Webhooks', () => {
  it('is valid for any body and endpoint', () => {
    fc.assert(
      fc.property(jsonBodies, (body) => {
        const { secret, id, timestamp, signed } = anAttempt(body);
        expect(new Webhook(secret).verify(body, buildHeaders(id, timestamp, signed))).toEqual(
          JSON.parse(body),
        );
      }),
    );
  });

  it('is invalid for any other body', () => {
    fc.assert(
      fc.property(jsonBodies, jsonBodies, (body, other) => {
        fc.pre(body !== other);
        const { secret, id, timestamp, signed } = anAttempt(body);
        expect(() => new Webhook(secret).verify(other, buildHeaders(id, timestamp, signed))).toThrow();
      }),
    );
  });

  it('is invalid for another delivery', () => {
    const { secret, timestamp, body, signed } = anAttempt('{}');
    const headers = buildHeaders(newId('dlv', NOW), timestamp, signed);
    expect(() => new Webhook(secret).verify(body, headers)).toThrow();
  });

  it('is invalid for another time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.constantFrom(-1, 1), (distance, direction) => {
        const { secret, id, timestamp, body, signed } = anAttempt('{}');
        const headers = buildHeaders(id, timestamp + distance * direction, signed);
        expect(() => new Webhook(secret).verify(body, headers)).toThrow();
      }),
    );
  });

  it('is invalid with the secret of another endpoint', () => {
    const { id, timestamp, body, signed } = anAttempt('{}');
    const { secret: another } = anAttempt('{}');
    expect(() => new Webhook(another).verify(body, buildHeaders(id, timestamp, signed))).toThrow();
  });

  it('is invalid when any part of it was changed', () => {
    const { secret, id, timestamp, body, signed } = anAttempt('{}');
    const changed = [
      signed.replace('v1,', 'v2,'),
      signed.replace('v1,', ''),
      signed.slice(0, -3),
      signed.replace(/,./, (start) => (start === ',A' ? ',B' : ',A')),
      '',
    ];
    for (const other of changed)
      expect(() => new Webhook(secret).verify(body, buildHeaders(id, timestamp, other))).toThrow();
  });
});

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
