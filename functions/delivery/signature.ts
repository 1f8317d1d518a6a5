import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { BoundedMap } from '../aws/cache.ts';
import type { EventId, ReceiverId } from '../aws/ids.ts';
import { getKey, type Keyring } from '../aws/keyrings.ts';

/**
 * Derives an endpoint's signing secret: HKDF-SHA256 (RFC 5869) of a master key and the endpoint's id, in the
 * form of Standard Webhooks: `whsec_` and base64 of 32 bytes.
 * @throws UnknownKeyVersion
 */
export function deriveSigningSecret(master: Keyring, keyVersion: string, endpoint: ReceiverId): string {
  const bytes = hkdfSync('sha256', getKey(master, keyVersion), '', `webhook-signing-secret/${endpoint}`, 32);
  return `whsec_${Buffer.from(bytes).toString('base64')}`;
}

const decodeSecret = (secret: string): Buffer => Buffer.from(secret.slice('whsec_'.length), 'base64');

/** Maximum number of cached keys of a keyring. */
const MAX_CACHED = 1000;
const keysByKeyring = new WeakMap<Keyring, BoundedMap<string, KeyObject>>();

/**
 * The key of {@link deriveSigningSecret} for many signatures: deriving it takes as long as the signature. It
 * is cached with its keyring and its version, so a keyring that is read again has keys of its own.
 * @throws UnknownKeyVersion
 */
export function getSigningKey(master: Keyring, keyVersion: string, endpoint: ReceiverId): KeyObject {
  const keys = keysByKeyring.get(master) ?? new BoundedMap<string, KeyObject>(MAX_CACHED);
  keysByKeyring.set(master, keys);
  const name = `${keyVersion}/${endpoint}`;
  const cached = keys.get(name);
  if (cached !== undefined) return cached;
  const key = createSecretKey(decodeSecret(deriveSigningSecret(master, keyVersion, endpoint)));
  keys.set(name, key);
  return key;
}

/**
 * `webhook-signature` of one attempt (Standard Webhooks): `v1,` and the base64 HMAC-SHA256 of
 * `id.timestamp.body`.
 * @param secret or its key
 * @param id the event's: the same at every attempt, so that a receiver processes an event once
 * @param timestamp seconds since the epoch, as in the `webhook-timestamp` header
 * @param body exactly the bytes that are sent
 */
export function sign(secret: string | KeyObject, id: EventId, timestamp: number, body: Uint8Array): string {
  const key = typeof secret === 'string' ? createSecretKey(decodeSecret(secret)) : secret;
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}
