import { createHmac, hkdfSync } from 'node:crypto';
import type { EventId, ReceiverId } from './ids.ts';
import { getKey, type Keyring } from './keyring.ts';

/**
 * Derives an endpoint's signing secret: HKDF-SHA256 (RFC 5869) of a master key and the endpoint's id, in the
 * form of Standard Webhooks: `whsec_` and base64 of 32 bytes.
 * @throws UnknownKeyVersion
 */
export function deriveSigningSecret(master: Keyring, keyVersion: string, endpoint: ReceiverId): string {
  const bytes = hkdfSync('sha256', getKey(master, keyVersion), '', `webhook-signing-secret/${endpoint}`, 32);
  return `whsec_${Buffer.from(bytes).toString('base64')}`;
}

/**
 * `webhook-signature` of one attempt (Standard Webhooks): `v1,` and the base64 HMAC-SHA256 of
 * `id.timestamp.body`.
 * @param id the event's: the same at every attempt, so that a receiver processes an event once
 * @param timestamp seconds since the epoch, as in the `webhook-timestamp` header
 * @param body exactly the bytes that are sent
 */
export function sign(secret: string, id: EventId, timestamp: number, body: Uint8Array): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}
