import * as z from 'zod/mini';
import { refreshedValue } from '../aws/cache.ts';
import { expression } from '../aws/expression.ts';
import { Timestamp } from '../aws/ids.ts';
import { put, queryAll, readRows, remove, type Table } from '../aws/table.ts';
import { keys } from '../tenancy/keys.ts';
import { isLoopbackHost, isPublicAddress } from './receiver-url.ts';

/** Maximum age of the list when a request is sent. Seconds. */
export const BLOCKED_HOSTS_FRESH_SECONDS = 30;

/** A host that the operator has blocked. It and its subdomains receive nothing. */
export const BlockedHost = z.object({
  /** A name in lower case and punycode, or an address in canonical form; see `getHost`. */
  host: z.string(),
  reason: z.optional(z.string()),
  blockedAt: Timestamp,
});
export type BlockedHost = z.infer<typeof BlockedHost>;

/**
 * Whether a host, or a parent domain of it, is blocked.
 * @param host as `getHost` returns it, or an address as a resolver returns it
 */
export function isBlocked(host: string, blocked: ReadonlySet<string>): boolean {
  if (blocked.size === 0) return false;
  if (blocked.has(host)) return true;
  // An address has no parent domain.
  if (isPublicAddress(host) || isLoopbackHost(host)) return false;
  for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1))
    if (blocked.has(host.slice(dot + 1))) return true;
  return false;
}

/** Caches the blocked hosts in an instance. */
export function blockedHosts(load: () => Promise<readonly Pick<BlockedHost, 'host'>[]>, now = Date.now) {
  const list = refreshedValue<ReadonlySet<string>>(
    async () => new Set((await load()).map(({ host }) => host)),
    { freshMs: BLOCKED_HOSTS_FRESH_SECONDS * 1000, retryMs: 5000, now },
  );
  return {
    /**
     * Reads the list unless it was read in the last 30 seconds. When that fails, the cached list stays in
     * use.
     * @throws the error of the first read: nothing is sent before the list is known
     */
    async refresh(): Promise<void> {
      await list.get();
    },

    /** Whether a host or a parent domain is blocked. Every host is blocked before the list is known. */
    blocks(host: string): boolean {
      const blocked = list.peek();
      return blocked === undefined || isBlocked(host, blocked);
    },
  };
}

/** Hosts that the operator blocked, in one partition. */
export function blockedHostStore(service: Table) {
  return {
    async all(): Promise<BlockedHost[]> {
      const rows = await queryAll(service, { where: expression`pk = ${keys.blockedHosts()}` });
      return readRows(service, rows, (row) => BlockedHost.parse(row));
    },

    /** Blocks a host, or replaces its reason. */
    async block(host: BlockedHost): Promise<void> {
      await put(service, { ...keys.blockedHost(host.host), ...host });
    },

    async unblock(host: string): Promise<void> {
      await remove(service, keys.blockedHost(host));
    },
  };
}
