import { hash } from 'node:crypto';
import {
  type AuditEntryId,
  type ConversationId,
  type DeliveryId,
  type ErasureId,
  type EscalationId,
  type EventId,
  isChannelId,
  type KeyId,
  type MessageId,
  type OrgId,
  type ReceiverId,
  type RedeliveryJobId,
  type SourceId,
  type TicketId,
} from '../aws/ids.ts';
import { type Environment, isSandbox, type Tenant } from './tenant.ts';

/** Budgets of one conversation's visitor: for reads, and for messages. */
export type VisitorBudget = 'visitor' | 'visitor-writes';
/** The same for all visitors of an organization together. */
export type SharedBudget = 'visitors' | 'visitors-writes';

/**
 * Requests that share a budget. The dashboard has its own, so that an admin can revoke a key that exhausts
 * the organization's. So has each conversation's visitor, who is untrusted, and another for messages, so that
 * a page that polls can still send them; all visitors of an organization share one more budget of each kind,
 * because conversations are unlimited.
 */
export interface RateBucket {
  orgId: OrgId;
  kind: Environment | 'dashboard' | `${VisitorBudget}/${ConversationId}` | SharedBudget;
}

/**
 * `parked`: no queue message exists on purpose. `watched`: a message should exist and is checked in case it
 * was lost. A delivery that ends at its first attempt is never in the index.
 */
export const DUE_STATES = ['parked', 'watched'] as const;
export type DueState = (typeof DUE_STATES)[number];

/**
 * Builds the keys of all tables. Keys of an organization's data start with the tenant (organization id and
 * generation), so a read cannot cross tenants. Keys of deliveries, events and counts start with an endpoint
 * or channel id; callers read that endpoint or channel under its organization first. Large collections are
 * sharded by id, because a partition takes 1,000 write units a second.
 */
export interface Key {
  pk: string;
  sk: string;
}

export const CONVERSATION_SHARDS = 4;
export const TICKET_SHARDS = 4;
export const DELIVERY_SHARDS = 8;
/** A large organization has a thousand events a second, and a transaction doubles their write units. */
export const EVENT_SHARDS = 4;
/** Shards per state of the due index: during mass retries, each settled attempt writes to it. */
export const DUE_SHARDS = 32;
export const LEDGER_SHARDS = 16;
export const PURGE_SHARDS = 4;
export const REDELIVERY_RUN_SHARDS = 4;
export const SOURCE_SHARDS = 4;
export const SOURCE_DUE_SHARDS = 16;
/** Shards of a month's counts: a large organization has a thousand events a second. */
export const USAGE_SHARDS = 8;
/** An organization of tier `scale` can make a hundred changes a second, of some write units each. */
export const AUDIT_SHARDS = 4;

/** Text form of a tenant; cursors are bound to it too. */
export const buildTenantKey = (tenant: Tenant): string => `${tenant.orgId}#${tenant.generation}`;

/**
 * Key of the index that a purge reads (`OF_SANDBOX_INDEX`).
 * @returns attributes to write with each row of a sandbox; none for live data
 */
export const buildSandboxMark = (tenant: Tenant): { ofSandbox?: string } =>
  isSandbox(tenant) ? { ofSandbox: buildTenantKey(tenant) } : {};

const toKey = (pk: string, sk: string): Key => ({ pk, sk });

/** Partition of the response that is kept for an idempotency key, in a row that the request has added. */
export interface Kept {
  keptAs?: string | undefined;
}

export const keys = {
  organization: (orgId: OrgId): Key => toKey(orgId, 'organization'),
  /** Organizations that do not keep their conversations for good. */
  retentions: (): string => 'retentions',
  retention: (orgId: OrgId): Key => toKey(keys.retentions(), orgId),
  /** The live organization's sandbox. */
  pairing: (liveOrgId: OrgId): Key => toKey(liveOrgId, 'sandbox'),
  /** Orders to delete the data of earlier generations, and of erased conversations. */
  purges: (shard: number): string => `purges#${shard}`,
  purge: ({ orgId, generation, erasureId }: Tenant & { erasureId?: ErasureId | undefined }): Key => {
    const ofGeneration = `${orgId}#${String(generation).padStart(10, '0')}`;
    return toKey(
      keys.purgesOf(orgId),
      erasureId === undefined ? ofGeneration : `${ofGeneration}#${erasureId}`,
    );
  },
  purgesOf: (orgId: OrgId): string => keys.purges(getShard(orgId, PURGE_SHARDS)),
  endpointCount: (orgId: OrgId): Key => toKey(orgId, 'endpoint-count'),
  /** Number of endpoints at one host. */
  endpointHostCount: (orgId: OrgId, host: string): Key => toKey(orgId, `endpoint-count#${host}`),
  /** Hosts blocked for all organizations. */
  blockedHosts: (): string => 'blocked-hosts',
  blockedHost: (host: string): Key => toKey(keys.blockedHosts(), host),
  /** By the key's digest: authentication reads it before the organization is known. */
  apiKey: (digest: string): Key => toKey(`key#${digest}`, 'key'),
  /** The same keys in their organization's listing. */
  apiKeys: (orgId: OrgId): string => `${orgId}#api-keys`,
  listedApiKey: (orgId: OrgId, id: KeyId): Key => toKey(keys.apiKeys(orgId), id),

  /** Survives a reset, so its partitions have no generation. */
  auditLog: (orgId: OrgId, shard: number): string => `${orgId}#audit-log#${shard}`,
  auditEntry: (orgId: OrgId, id: AuditEntryId): Key =>
    toKey(keys.auditLog(orgId, getShard(id, AUDIT_SHARDS)), id),

  /** Endpoints survive a reset, so their partition has no generation. */
  endpoints: (orgId: OrgId): string => `${orgId}#webhooks`,
  /** A webhook endpoint or a channel; the engine treats them alike. */
  endpoint: (orgId: OrgId, id: ReceiverId): Key =>
    toKey(isChannelId(id) ? keys.channels(orgId) : keys.endpoints(orgId), id),
  /** What remains of deleted endpoints, by the time of deletion. */
  deletedEndpoints: (orgId: OrgId): string => `${orgId}#deleted-webhooks`,
  deletedEndpoint: (orgId: OrgId, deletedAt: string, id: ReceiverId): Key =>
    toKey(keys.deletedEndpoints(orgId), `${deletedAt}#${id}`),
  channels: (orgId: OrgId): string => `${orgId}#channels`,
  channelCount: (orgId: OrgId): Key => toKey(orgId, 'channel-count'),

  /** Redelivery jobs of an endpoint or channel. */
  redeliveryJobs: (tenant: Tenant, endpoint: ReceiverId): string =>
    `${buildTenantKey(tenant)}#${endpoint}#redeliveries`,
  redeliveryJob: (tenant: Tenant, endpoint: ReceiverId, id: RedeliveryJobId): Key =>
    toKey(keys.redeliveryJobs(tenant, endpoint), id),
  /** The latest redelivery of an event; one partition each, because a job writes many. */
  redeliveryRecord: (tenant: Tenant, endpoint: ReceiverId, event: EventId): Key =>
    toKey(`${buildTenantKey(tenant)}#${endpoint}#redelivered#${event}`, 'redelivery'),
  /** Running jobs of all organizations: one of a receiver. */
  redeliveryRuns: (shard: number): string => `redelivery-runs#${shard}`,
  redeliveryRun: ({ webhookId, ...tenant }: Tenant & { webhookId: ReceiverId }): Key =>
    toKey(
      keys.redeliveryRuns(getShard(webhookId, REDELIVERY_RUN_SHARDS)),
      `${buildTenantKey(tenant)}#${webhookId}`,
    ),

  conversations: (tenant: Tenant, shard: number): string =>
    `${buildTenantKey(tenant)}#conversations#${shard}`,
  conversation: (tenant: Tenant, id: ConversationId): Key =>
    toKey(keys.conversations(tenant, getShard(id, CONVERSATION_SHARDS)), id),
  /** Ids of an external user's conversations. The user's identifier is hashed: it is a customer's text. */
  userConversations: (tenant: Tenant, externalUserId: string): string =>
    `${buildTenantKey(tenant)}#external-user#${hash('sha256', externalUserId)}`,
  userConversation: (tenant: Tenant, externalUserId: string, id: ConversationId): Key =>
    toKey(keys.userConversations(tenant, externalUserId), id),
  /** Ids of what belongs to a conversation and has keys of its own: its tickets, and events about itself. */
  conversationLinks: (tenant: Tenant, id: ConversationId): string => `${buildTenantKey(tenant)}#${id}#links`,
  conversationLink: (tenant: Tenant, conversation: ConversationId, id: TicketId | EventId): Key =>
    toKey(keys.conversationLinks(tenant, conversation), id),
  /** What is left of an erased conversation. */
  tombstone: (tenant: Tenant, id: ConversationId): Key =>
    toKey(`${buildTenantKey(tenant)}#${id}#erased`, 'erased'),
  erasure: (tenant: Tenant, id: ErasureId): Key => toKey(`${buildTenantKey(tenant)}#${id}`, 'erasure'),
  messages: (tenant: Tenant, id: ConversationId): string => `${buildTenantKey(tenant)}#${id}#messages`,
  message: (tenant: Tenant, conversation: ConversationId, id: MessageId): Key =>
    toKey(keys.messages(tenant, conversation), id),
  escalations: (tenant: Tenant, id: ConversationId): string => `${buildTenantKey(tenant)}#${id}#escalations`,
  escalation: (tenant: Tenant, conversation: ConversationId, id: EscalationId): Key =>
    toKey(keys.escalations(tenant, conversation), id),
  tickets: (tenant: Tenant, shard: number): string => `${buildTenantKey(tenant)}#tickets#${shard}`,
  ticket: (tenant: Tenant, id: TicketId): Key => toKey(keys.tickets(tenant, getShard(id, TICKET_SHARDS)), id),

  idempotency: (tenant: Tenant, route: string, key: string): Key =>
    toKey(`${buildTenantKey(tenant)}#idempotency#${route}#${key}`, 'idempotency'),

  /** Events by time, so that the event log is a query of each shard. */
  events: (tenant: Tenant, shard: number): string => `${buildTenantKey(tenant)}#events#${shard}`,
  event: (tenant: Tenant, id: EventId): Key => toKey(keys.events(tenant, getShard(id, EVENT_SHARDS)), id),
  /**
   * Outbox entry that sends the message of a redelivery, or of a retry that a user requested: one for each
   * number of attempts.
   */
  redelivery: (id: DeliveryId, retryAfter?: number): Key =>
    toKey(id, retryAfter === undefined ? 'redelivery' : `retry#${retryAfter}`),
  /** Rate windows and uses of keys have a partition key only. */
  rateWindow: ({ orgId, kind }: RateBucket, start: number): { pk: string } => ({
    pk: `${orgId}#${kind}#${start}`,
  }),
  /** Schedule of an endpoint with a limit of attempts per second, whose key has an older name of it. */
  rateSchedule: (endpoint: ReceiverId): { pk: string } => ({ pk: `pace#${endpoint}` }),
  /** Last use of a key, under the organization that lists it: for a sandbox key, the live one. */
  keyUse: (orgId: OrgId, id: KeyId): { pk: string } => ({ pk: `${orgId}#used#${id}` }),

  deliveries: (endpoint: ReceiverId, generation: number, shard: number): string =>
    `${endpoint}#${generation}#${shard}`,
  delivery: (endpoint: ReceiverId, generation: number, id: DeliveryId): Key =>
    toKey(keys.deliveries(endpoint, generation, getShard(id, DELIVERY_SHARDS)), id),
  due: (state: DueState, shard: number): string => `${state}#${shard}`,
  dueOf: (state: DueState, id: DeliveryId): string => keys.due(state, getShard(id, DUE_SHARDS)),
  /** Sort key of the due index. */
  dueKey: (orgId: string, dueAt: string): string => `${orgId}#${dueAt}`,

  /** Events for the service's own workers. */
  notice: (id: string): Key => toKey(id, 'notice'),

  /** Sources, their count, and their versions, whose text is stored in parts. */
  sources: (tenant: Tenant, shard: number): string => `${buildTenantKey(tenant)}#sources#${shard}`,
  source: (tenant: Tenant, id: SourceId): Key => toKey(keys.sources(tenant, getShard(id, SOURCE_SHARDS)), id),
  sourceCount: (tenant: Tenant): Key => toKey(buildTenantKey(tenant), 'source-count'),
  /** Running checks of a tenant. */
  checkSlots: (tenant: Tenant): Key => toKey(buildTenantKey(tenant), 'check-slots'),
  versions: (tenant: Tenant, id: SourceId): string => `${buildTenantKey(tenant)}#${id}#versions`,
  versionPart: (tenant: Tenant, id: SourceId, version: number, part: number): Key =>
    toKey(keys.versions(tenant, id), `${String(version).padStart(10, '0')}#${String(part).padStart(2, '0')}`),
  /** Due times of sources. */
  dueSources: (shard: number): string => `sources#${shard}`,
  dueSourcesOf: (id: SourceId): string => keys.dueSources(getShard(id, SOURCE_DUE_SHARDS)),

  /** Usage: marks of counted events, and counts of a month (`2026-11`). */
  metered: (orgId: OrgId, eventId: string): Key => toKey(`${orgId}#metered#${eventId}`, 'metered'),
  usage: (orgId: OrgId): string => `${orgId}#usage`,
  usageOf: (orgId: OrgId, month: string, shard: number): Key => toKey(keys.usage(orgId), `${month}#${shard}`),

  /** By subject of the e-mail, which is sent once or once per window. */
  mailing: (orgId: OrgId, about: string): { pk: string } => ({ pk: `${orgId}#${about}` }),
  /** E-mail of all organizations together. */
  stageMailing: (about: string): string => `stage#${about}`,

  /** By endpoint first: one query reads a range of its hours. */
  ledgerOf: (id: ReceiverId, generation: number): string => `${id}#${generation}`,
  ledger: (id: ReceiverId, generation: number, hour: string): Key =>
    toKey(keys.ledgerOf(id, generation), hour),
  /** Endpoints with counts on a day: the ledger audit reads only these. */
  activeInDay: (hour: string, shard: number): string => `${hour.slice(0, 'yyyy-mm-dd'.length)}#${shard}`,
  active: (id: ReceiverId, generation: number, hour: string): Key =>
    toKey(keys.activeInDay(hour, getShard(id, LEDGER_SHARDS)), keys.ledgerOf(id, generation)),
};

/** The index of deliveries that are due. */
export const DUE_INDEX = 'due';
/** After an organization's id, sorts behind all of its keys in the due index. */
export const DUE_END = '$';

/** Bounds of the sort keys of a range of months, of any shard. */
export const buildUsageKeyBounds = (from: string, to: string): [first: string, last: string] => [
  `${from}#`,
  `${to}$`,
];

export const listShards = (count: number): number[] => Array.from({ length: count }, (_, shard) => shard);

/** Hashes the id: ids start with the time, so without a hash a minute's ids would go to one shard. */
function getShard(id: string, count: number): number {
  return hash('sha256', id, 'buffer').readUInt32BE(0) % count;
}
