import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { UnknownKeyVersion } from '../../../functions/aws/keyrings.ts';
import { deriveSigningSecret, getSigningKey, sign } from '../../../functions/delivery/signature.ts';
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
