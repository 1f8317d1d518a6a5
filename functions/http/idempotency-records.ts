import * as z from 'zod/mini';
import { expression } from '../aws/expression.ts';
import { buildPut, get, type Table, toExpiry } from '../aws/table.ts';
import type { Change } from '../aws/transaction.ts';
import { buildSandboxMark, keys } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';

/**
 * The response to a request with an idempotency key, kept for 24 hours (docs/specification.md, Idempotency).
 */
export const IdempotencyRecord = z.object({
  /** Identifies the request: the caller may not use the key for another one. */
  fingerprint: z.string(),
  status: z.int(),
  location: z.optional(z.string()),
  /** `data` of the response as JSON, without secrets: a replay derives them again. */
  data: z.string(),
});
export type IdempotencyRecord = z.infer<typeof IdempotencyRecord>;

const DAYS_KEPT = 1;

/** Scope of a key: an organization's data and one route. */
export interface IdempotencyScope {
  tenant: Tenant;
  route: string;
  key: string;
}

export function idempotencyStore(service: Table) {
  return {
    async find({ tenant, route, key }: IdempotencyScope, now: Date): Promise<IdempotencyRecord | undefined> {
      const row = await get(service, keys.idempotency(tenant, route, key));
      // DynamoDB deletes expired items within days.
      return row && Number(row.expiresAt) > now.getTime() / 1000 ? IdempotencyRecord.parse(row) : undefined;
    },

    /** Commits in one transaction with the request's effect, so that a crash leaves both or neither. */
    record({ tenant, route, key }: IdempotencyScope, record: IdempotencyRecord, now: Date): Change {
      const row = {
        ...keys.idempotency(tenant, route, key),
        ...buildSandboxMark(tenant),
        ...record,
        expiresAt: toExpiry(now, DAYS_KEPT),
      };
      return buildPut(service, row, {
        refusal: 'idempotency-key-used',
        if: expression`attribute_not_exists(pk) OR expiresAt <= ${Math.floor(now.getTime() / 1000)}`,
      });
    },
  };
}
