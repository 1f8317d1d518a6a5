import type { OrgId } from '../aws/ids.ts';
import { type Page, type PageRequest, readPage } from '../aws/pages.ts';
import { type Table, toExpiry } from '../aws/table.ts';
import { buildAddition, type Change } from '../aws/transaction.ts';
import { AUDIT_DAYS, AuditEntry } from './audit.ts';
import { AUDIT_SHARDS, keys, listShards } from './keys.ts';

/** Adds an entry, in the transaction of the change that it records. */
export const recordAuditEntry = (service: Pick<Table, 'name'>, entry: AuditEntry): Change =>
  buildAddition(service, {
    ...keys.auditEntry(entry.orgId, entry.id),
    ...entry,
    expiresAt: toExpiry(new Date(entry.createdAt), AUDIT_DAYS),
  });

/** All conditions must hold; absent ones do. */
export interface AuditFilter {
  actions?: readonly string[] | undefined;
  actorTypes?: readonly string[] | undefined;
  /** Id of a user or an API key. */
  actorId?: string | undefined;
  /** Range of times; `to` is exclusive. */
  from?: Date | undefined;
  to?: Date | undefined;
}

const MS_PER_DAY = 86_400_000;

/** Lists entries of an organization, newest first. */
export const auditLogReader =
  (service: Table) =>
  (orgId: OrgId, page: PageRequest, filter: AuditFilter, now: Date): Promise<Page<AuditEntry>> => {
    const { actions, actorTypes, actorId, from, to } = filter;
    // DynamoDB deletes expired items within days.
    const earliest = new Date(now.getTime() - AUDIT_DAYS * MS_PER_DAY);
    const partitions = listShards(AUDIT_SHARDS).map((shard) => keys.auditLog(orgId, shard));
    return readPage(service, partitions, page, {
      parse: (row) => AuditEntry.parse(row),
      times: {
        prefix: 'aud',
        from: from === undefined || from < earliest ? earliest : from,
        // Later than any entry: clocks of functions differ.
        to: to ?? new Date(now.getTime() + MS_PER_DAY),
      },
      wanted: {
        action: actions,
        actorType: actorTypes,
        actorId: actorId === undefined ? undefined : [actorId],
      },
    });
  };
