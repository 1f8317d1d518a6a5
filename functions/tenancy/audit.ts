import * as z from 'zod/mini';
import { AuditEntryId, isChannelId, newId, OrgId, type ReceiverId, Timestamp } from '../aws/ids.ts';
import { type Page, type PageRequest, readPage } from '../aws/pages.ts';
import { type Table, toExpiry } from '../aws/table.ts';
import { buildAddition, type Change } from '../aws/transaction.ts';
import { AUDIT_SHARDS, keys, listShards } from './keys.ts';

/** Days for which an entry of the audit log is kept (docs/specification.md, Audit log). */
const AUDIT_DAYS = 400;

/** Changes of an organization's set-up. The part before the dot is the type of the changed thing. */
export const AuditAction = z.enum([
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
  'webhook.disabled',
  'webhook.enabled',
  'redelivery.started',
  'redelivery.stopped',
  'channel.created',
  'channel.updated',
  'channel.deleted',
  'channel.disabled',
  'channel.enabled',
  'erasure.created',
  'source.created',
  'source.deleted',
  'api_key.created',
  'api_key.revoked',
  'organization.created',
  'organization.updated',
  'sandbox.provisioned',
  'sandbox.reset',
]);
export type AuditAction = z.infer<typeof AuditAction>;

export const AuditTargetType = z.enum([
  'webhook',
  'redelivery',
  'channel',
  'erasure',
  'source',
  'api_key',
  'organization',
  'sandbox',
]);

/** `service` disables endpoints and channels whose deliveries fail; `operator` runs the service. */
export const AuditActorType = z.enum(['user', 'api_key', 'service', 'operator']);

/** Who makes a change. */
export type AuditActor =
  | { readonly type: 'user'; readonly id: string; readonly email?: string | null }
  | { readonly type: 'api_key'; readonly id: string }
  | { readonly type: 'service' | 'operator' };

/** Value of a field: null when the thing does not have it, or does not exist. */
export const AuditValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]);
type AuditValue = z.infer<typeof AuditValue>;

export const AuditChange = z.object({ field: z.string(), before: AuditValue, after: AuditValue });
export type AuditChange = z.infer<typeof AuditChange>;

/** An entry of the audit log as stored. Its fields are flat, so that a listing can filter by the actor. */
export const AuditEntry = z.object({
  id: AuditEntryId,
  orgId: OrgId,
  action: AuditAction,
  targetId: z.string(),
  actorType: AuditActorType,
  /** Of a user or an API key. */
  actorId: z.optional(z.string()),
  actorEmail: z.optional(z.string()),
  changes: z.array(AuditChange),
  /** Absent without a request. */
  requestId: z.optional(z.string()),
  createdAt: Timestamp,
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** A change of the set-up of an organization. */
export type SetupChange = Pick<AuditEntry, 'orgId' | 'action' | 'targetId' | 'requestId'> & {
  changes: readonly AuditChange[];
};

export function createAuditEntry(
  { requestId, changes, ...change }: SetupChange,
  actor: AuditActor,
  now: Date,
): AuditEntry {
  return {
    id: newId('aud', now),
    ...change,
    actorType: actor.type,
    ...('id' in actor ? { actorId: actor.id } : {}),
    ...(actor.type === 'user' && actor.email ? { actorEmail: actor.email } : {}),
    changes: [...changes],
    ...(requestId === undefined ? {} : { requestId }),
    createdAt: now.toISOString(),
  };
}

/** Entry of an endpoint or channel that is disabled or enabled without a request. */
export const createStatusEntry = (
  { orgId, id }: { orgId: OrgId; id: ReceiverId },
  status: 'disabled' | 'enabled',
  actor: AuditActor,
  now: Date,
): AuditEntry => {
  const states = ['active', 'auto_disabled'];
  const [before = '', after = ''] = status === 'disabled' ? states : states.toReversed();
  return createAuditEntry(
    {
      orgId,
      action: `${isChannelId(id) ? 'channel' : 'webhook'}.${status}`,
      targetId: id,
      changes: [{ field: 'status', before, after }],
    },
    actor,
    now,
  );
};

type Fields = object | undefined;

/**
 * Compares fields of a thing before and after a change.
 * @param before undefined when the thing is created
 * @param after undefined when it is deleted
 * @returns the fields whose values differ
 */
export const compareFields = (names: readonly string[], before: Fields, after: Fields): AuditChange[] =>
  names.flatMap((field) => {
    const change = { field, before: toAuditValue(before, field), after: toAuditValue(after, field) };
    return JSON.stringify(change.before) === JSON.stringify(change.after) ? [] : [change];
  });

/** Values of other types are shown as JSON. */
function toAuditValue(fields: Fields, name: string): AuditValue {
  const value: unknown = Object(fields)[name] ?? null;
  const parsed = AuditValue.safeParse(value);
  return parsed.success ? parsed.data : JSON.stringify(value);
}

/** The entry as the API returns it. */
export const toAuditView = ({ action, targetId, actorType, actorId, actorEmail, ...entry }: AuditEntry) => ({
  ...entry,
  action,
  actor: { type: actorType, id: actorId, email: actorEmail },
  target: { type: action.slice(0, action.indexOf('.')), id: targetId },
});

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
