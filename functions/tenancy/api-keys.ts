import { hash, randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { within } from '../aws/concurrency.ts';
import { all, assign, expression } from '../aws/expression.ts';
import { KeyId, newId, OrgId, Timestamp } from '../aws/ids.ts';
import { type Page, type PageRequest, readPage } from '../aws/pages.ts';
import { EXISTS, get, getMany, readRows, type Table, toExpiry, update } from '../aws/table.ts';
import { buildAddition, buildUpdate, type Change } from '../aws/transaction.ts';
import { type Key, keys } from './keys.ts';
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
export const generateApiKey = (environment: Environment): string =>
  `ck_${environment}_${randomBytes(32).toString('base64url')}`;

/** @returns the row to store, and the key's text */
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
export const hashApiKey = (key: string): string => hash('sha256', key);

/** Returns the key of an `Authorization` header; undefined when the header has another form. */
export function parseBearerKey(authorization: string | undefined): string | undefined {
  const token = BEARER.exec(authorization ?? '')?.[1];
  return token !== undefined && SECRET.test(token) ? token : undefined;
}

/** A `write:` scope implies the resource's `read:` scope (docs/specification.md, Authentication). */
export const hasScope = (scopes: readonly Scope[], needed: Scope): boolean =>
  scopes.includes(needed) || scopes.some((scope) => scope.replace('write:', 'read:') === needed);

/** Holds the digest, so that a revocation finds the other row. The digest never leaves the store. */
const ListedApiKey = z.extend(ApiKey, { digest: z.string() });

/** API keys. Each has two rows, written together: one by digest, one in its organization's listing. */
export function apiKeyStore(service: Table) {
  async function findListed(orgId: OrgId, id: KeyId): Promise<z.infer<typeof ListedApiKey> | undefined> {
    const row = await get(service, keys.listedApiKey(orgId, id));
    return row && ListedApiKey.parse(row);
  }

  return {
    /** Reads consistently, so that a revocation takes effect at the next request. */
    async find(digest: string): Promise<ApiKey | undefined> {
      const row = await get(service, keys.apiKey(digest));
      return row && ApiKey.parse(row);
    },

    /** As `find`, with another row in the same request; that one is undefined when it does not exist. */
    async findWith(digest: string, other: Key) {
      const key = keys.apiKey(digest);
      const rows = await getMany(service, [key, other], { consistent: true });
      const row = rows.find(({ pk }) => pk === key.pk);
      return { key: row && ApiKey.parse(row), row: rows.find(({ pk }) => pk !== key.pk) };
    },

    /** Keys of an organization, newest first, revoked ones included. */
    list(orgId: OrgId, page: PageRequest): Promise<Page<ApiKey>> {
      return readPage(service, [keys.apiKeys(orgId)], page, { parse: (row) => ApiKey.parse(row) });
    },

    create(digest: string, key: ApiKey): Change[] {
      return [
        buildAddition(service, { ...keys.apiKey(digest), ...key }),
        buildAddition(service, { ...keys.listedApiKey(key.orgId, key.id), ...key, digest }),
      ];
    },

    /**
     * Changes that revoke a key; none when it does not exist or is revoked. Refused as `api-key-missing` when
     * it was revoked meanwhile.
     */
    async revoke(orgId: OrgId, id: KeyId, now: Date): Promise<Change[]> {
      const key = await findListed(orgId, id);
      if (key === undefined || key.revokedAt !== undefined) return [];
      const buildRevocation = (row: Key): Change =>
        buildUpdate(service, row, {
          refusal: 'api-key-missing',
          update: expression`SET revokedAt = ${now.toISOString()}`,
          if: all(EXISTS, expression`attribute_not_exists(revokedAt)`),
        });
      return [buildRevocation(keys.apiKey(key.digest)), buildRevocation(keys.listedApiKey(orgId, id))];
    },
  };
}

/** A key unused for longer is shown as never used. */
const DAYS_KEPT = 365;

export const KeyUse = z.object({ keyId: KeyId, lastUsedAt: Timestamp });
export type KeyUse = z.infer<typeof KeyUse>;

/**
 * Last use of API keys. Stored in the rate table, because read-only functions cannot write to the service
 * table.
 */
export function keyUseStore(rates: Table) {
  return {
    /** @param timeoutMs after which the write is abandoned */
    async note({ id, orgId }: Pick<ApiKey, 'id' | 'orgId'>, now: Date, timeoutMs: number): Promise<void> {
      const use = { keyId: id, lastUsedAt: now.toISOString(), expiresAt: toExpiry(now, DAYS_KEPT) };
      const change = { update: expression`SET ${assign(use)}` };
      await within(timeoutMs, update(rates, keys.keyUse(orgId, id), change));
    },

    /**
     * Last use of these keys of an organization; unused keys are left out.
     * @throws Throttled when DynamoDB keeps returning unprocessed keys
     */
    async read(orgId: OrgId, ids: readonly ApiKey['id'][]): Promise<Map<ApiKey['id'], string>> {
      const useKeys = ids.map((id) => keys.keyUse(orgId, id));
      const uses = readRows(rates, await getMany(rates, useKeys), (row) => KeyUse.parse(row));
      return new Map(uses.map(({ keyId, lastUsedAt }) => [keyId, lastUsedAt]));
    },
  };
}
