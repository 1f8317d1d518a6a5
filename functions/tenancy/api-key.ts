import { hash, randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { KeyId, newId, OrgId, Timestamp } from '../aws/ids.ts';
import { Environment } from './tenant.ts';

export const Scope = z.enum([
  'read:webhooks',
  'write:webhooks',
  'read:conversations',
  'write:conversations',
  'read:knowledge',
  'write:knowledge',
]);
export type Scope = z.infer<typeof Scope>;

/** An API key as stored: the SHA-256 digest, never the key. */
export const ApiKey = z.object({
  id: KeyId,
  orgId: OrgId,
  environment: Environment,
  name: z.string(),
  scopes: z.array(Scope),
  createdAt: Timestamp,
  revokedAt: z.optional(Timestamp),
});
export type ApiKey = z.infer<typeof ApiKey>;

/** 256 random bits, base64url, behind a prefix that secret scanners can find. */
const SECRET = /^ck_(live|sandbox)_[A-Za-z0-9_-]{43}$/;
const BEARER = /^Bearer +(\S+)$/i;

/** Returns the text of a new key. It is shown once and never stored. */
export function generateApiKey(environment: Environment): string {
  return `ck_${environment}_${randomBytes(32).toString('base64url')}`;
}

/**
 * Creates a key.
 * @returns the row to store, and the key's text
 */
export function issueKey(
  settings: Pick<ApiKey, 'orgId' | 'environment' | 'name' | 'scopes'>,
  now: Date,
): { key: ApiKey; secret: string } {
  return {
    key: { id: newId('key', now), ...settings, createdAt: now.toISOString() },
    secret: generateApiKey(settings.environment),
  };
}

/** SHA-256 in hex, which is stored and looked up. The key has 256 random bits, so no salt is needed. */
export function hashApiKey(key: string): string {
  return hash('sha256', key);
}

/** Returns the key of an `Authorization` header; undefined when the header has another form. */
export function parseBearerKey(authorization: string | undefined): string | undefined {
  const token = BEARER.exec(authorization ?? '')?.[1];
  return token !== undefined && SECRET.test(token) ? token : undefined;
}

/**
 * A `write:` scope implies the `read:` scope of the same resource (docs/specification.md, Authentication).
 */
export function hasScope(scopes: readonly Scope[], needed: Scope): boolean {
  return scopes.includes(needed) || scopes.some((scope) => scope.replace('write:', 'read:') === needed);
}
