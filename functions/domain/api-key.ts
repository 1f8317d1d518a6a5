import { createHash, randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { KeyId, newId, OrgId } from './ids.ts';
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

/** An API key as it is stored: without the key itself, of which only the SHA-256 digest exists. */
export const ApiKey = z.object({
  id: KeyId,
  orgId: OrgId,
  environment: Environment,
  name: z.string(),
  scopes: z.array(Scope),
  createdAt: z.iso.datetime(),
  revokedAt: z.optional(z.iso.datetime()),
});
export type ApiKey = z.infer<typeof ApiKey>;

/** 256 random bits, base64url, behind a prefix that secret scanners can find. */
const SECRET = /^ck_(live|sandbox)_[A-Za-z0-9_-]{43}$/;
const BEARER = /^Bearer +(\S+)$/i;

/** The text of a new key; shown once, never stored. */
export function generateApiKey(environment: Environment): string {
  return `ck_${environment}_${randomBytes(32).toString('base64url')}`;
}

/**
 * A new key as it is stored, and its text.
 * @param terms what the key is for, and what it may do
 */
export function issueKey(
  terms: Pick<ApiKey, 'orgId' | 'environment' | 'name' | 'scopes'>,
  now: Date,
): { key: ApiKey; secret: string } {
  return {
    key: { id: newId('key', now), ...terms, createdAt: now.toISOString() },
    secret: generateApiKey(terms.environment),
  };
}

/**
 * SHA-256 of a key in hex: what is stored and looked up. No salt is needed, the key itself has 256 random
 * bits.
 */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** The key in an `Authorization` header, or undefined when there is none of the right form. */
export function parseBearerKey(authorization: string | undefined): string | undefined {
  const token = BEARER.exec(authorization ?? '')?.[1];
  return token !== undefined && SECRET.test(token) ? token : undefined;
}

/** A `write:` scope implies the `read:` scope of the same resource (decisions.md, Authentication). */
export function hasScope(scopes: readonly Scope[], needed: Scope): boolean {
  return scopes.includes(needed) || scopes.some((scope) => scope.replace('write:', 'read:') === needed);
}
