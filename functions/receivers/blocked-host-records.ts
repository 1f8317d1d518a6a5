import { expression } from '../aws/expression.ts';
import { put, queryAll, readRows, remove, type Table } from '../aws/table.ts';
import { keys } from '../tenancy/keys.ts';
import { BlockedHost } from './blocked-hosts.ts';

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
