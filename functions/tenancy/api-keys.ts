import * as z from 'zod/mini';
import { within } from '../aws/concurrency.ts';
import { all, assign, expression } from '../aws/expression.ts';
import { KeyId, type OrgId, Timestamp } from '../aws/ids.ts';
import { type Page, type PageRequest, readPage } from '../aws/pages.ts';
import { buildUpdate, EXISTS, get, getMany, readRows, type Table, toExpiry, update } from '../aws/table.ts';
import { buildAddition, type Change } from '../aws/transaction.ts';
import { ApiKey } from './api-key.ts';
import { type Key, keys } from './keys.ts';

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
    async findWith(
      digest: string,
      other: Key,
    ): Promise<{ key: ApiKey | undefined; row: Record<string, unknown> | undefined }> {
      const key = keys.apiKey(digest);
      const rows = await getMany(service, [key, other], { consistent: true });
      const found = rows.find(({ pk }) => pk === key.pk);
      return { key: found && ApiKey.parse(found), row: rows.find(({ pk }) => pk !== key.pk) };
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
      const rows = await getMany(
        rates,
        ids.map((id) => keys.keyUse(orgId, id)),
      );
      return new Map(
        readRows(rates, rows, (row) => KeyUse.parse(row)).map(({ keyId, lastUsedAt }) => [keyId, lastUsedAt]),
      );
    },
  };
}
