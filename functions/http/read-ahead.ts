import type { APIGatewayProxyEvent } from 'aws-lambda';
import { BoundedMap } from '../aws/cache.ts';
import type { ApiKey } from '../tenancy/api-key.ts';
import type { Tenant } from '../tenancy/tenant.ts';

type Row = Readonly<Record<string, unknown>>;

/** What a request for an API key returned. */
export interface FoundKey {
  key: ApiKey | undefined;
  /** Row that was read in the same request, as if the caller were this tenant. */
  ahead?: { row: Row; tenant: Tenant } | undefined;
}

export interface ReadAhead {
  find(digest: string, event: APIGatewayProxyEvent): Promise<FoundKey>;
  /** Remembers for which tenant the next row is read. */
  note(digest: string, tenant: Tenant): void;
}

/**
 * Reads a row that a use case needs together with the API key, which saves a request. The key is read each
 * time. The tenant of its last call only guesses the row's key, so the row counts only when the key turns
 * out to act for the same tenant (`getRowAhead`).
 * @param buildKey returns the key of the row; undefined when the request names none
 */
export function readAhead<K>(
  buildKey: (tenant: Tenant, event: APIGatewayProxyEvent) => K | undefined,
  store: {
    find(digest: string): Promise<ApiKey | undefined>;
    findWith(digest: string, other: K): Promise<{ key: ApiKey | undefined; row: Row | undefined }>;
  },
): ReadAhead {
  const tenants = new BoundedMap<string, Tenant>(MAX_CACHED);
  return {
    async find(digest, event) {
      const tenant = tenants.get(digest);
      const other = tenant && buildKey(tenant, event);
      if (tenant === undefined || other === undefined) return { key: await store.find(digest) };
      const { key, row } = await store.findWith(digest, other);
      return { key, ahead: row && { row, tenant } };
    },
    note(digest, tenant) {
      tenants.set(digest, tenant);
    },
  };
}

const MAX_CACHED = 1000;

/** The row that was read ahead; undefined when it was read for another tenant than the caller's. */
export const getRowAhead = ({ ahead }: FoundKey, { orgId, generation }: Tenant): Row | undefined =>
  ahead?.tenant.orgId === orgId && ahead.tenant.generation === generation ? ahead.row : undefined;
