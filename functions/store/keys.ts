import { createHash } from 'node:crypto';
import type { DueState } from '../domain/due.ts';
import type {
  ChannelId,
  ConversationId,
  DeliveryId,
  EndpointId,
  EscalationId,
  EventId,
  KeyId,
  MessageId,
  OrgId,
  ReceiverId,
  RedeliveryJobId,
  SourceId,
  TicketId,
} from '../domain/ids.ts';
import type { RateBucket } from '../domain/rate-limit.ts';
import { isSandbox, type Tenant } from '../domain/tenant.ts';

/**
 * Every key of every table is built here and nowhere else. Keys of an organization's data begin with its
 * tenant (organization and generation), so that no read can leave it; but for deliveries, their events and
 * their counts, which are asked for by an endpoint or channel that was read under its organization first.
 *
 * Busy collections are spread over shards, because one partition key takes 1,000 write units a second:
 * conversations of one organization, and deliveries of one endpoint. A shard is found again from the
 * identifier.
 */
export interface Key {
  pk: string;
  sk: string;
}

export const CONVERSATION_SHARDS = 4;
export const TICKET_SHARDS = 4;
export const DELIVERY_SHARDS = 8;
/** Of each state in the due index: a storm of retries writes to it as often as it settles attempts. */
export const DUE_SHARDS = 32;
export const LEDGER_SHARDS = 16;
export const PURGE_SHARDS = 4;
export const REDELIVERY_RUN_SHARDS = 4;
export const SOURCE_SHARDS = 4;
export const SOURCE_DUE_SHARDS = 16;
/** Of a month's counts: a large organization's events come a thousand a second. */
export const USAGE_SHARDS = 8;

/** The text form of a tenant; also what cursors are bound to. */
export const buildTenantKey = (tenant: Tenant): string => `${tenant.orgId}#${tenant.generation}`;

/**
 * The key of the index that a purge reads (`OF_SANDBOX_INDEX`). Every row of a sandbox's data has it,
 * whatever it is; no live row has it.
 * @returns attributes to write with the row
 */
export const sandboxMark = (tenant: Tenant): { ofSandbox?: string } =>
  isSandbox(tenant) ? { ofSandbox: buildTenantKey(tenant) } : {};

export const keys = {
  organization: (orgId: OrgId): Key => ({ pk: orgId, sk: 'organization' }),
  /** Beside the live organization: which one its sandbox is. */
  pairing: (liveOrgId: OrgId): Key => ({ pk: liveOrgId, sk: 'sandbox' }),
  /** Orders to delete what a reset has left behind. */
  purges: (shard: number): string => `purges#${shard}`,
  purge: (tenant: Tenant): Key => ({
    pk: keys.purgesOf(tenant.orgId),
    sk: `${tenant.orgId}#${String(tenant.generation).padStart(10, '0')}`,
  }),
  purgesOf: (orgId: OrgId): string => keys.purges(getShard(orgId, PURGE_SHARDS)),
  endpointCount: (orgId: OrgId): Key => ({ pk: orgId, sk: 'endpoint-count' }),
  /** How many of them are at one host. */
  endpointHostCount: (orgId: OrgId, host: string): Key => ({ pk: orgId, sk: `endpoint-count#${host}` }),
  /** Hosts that the operator has blocked for all organizations. */
  blockedHosts: (): string => 'blocked-hosts',
  blockedHost: (host: string): Key => ({ pk: keys.blockedHosts(), sk: host }),
  /** Looked up before the organization is known: by the digest of the key that the caller presents. */
  apiKey: (digest: string): Key => ({ pk: `key#${digest}`, sk: 'key' }),
  /** The same keys once more, as their organization lists them. */
  apiKeys: (orgId: OrgId): string => `${orgId}#api-keys`,
  listedApiKey: (orgId: OrgId, id: KeyId): Key => ({ pk: keys.apiKeys(orgId), sk: id }),

  /** Endpoints outlive a reset of their organization's data, so their partition has no generation. */
  endpoints: (orgId: OrgId): string => `${orgId}#webhooks`,
  /** Of a webhook endpoint or a channel: the engine makes no difference. */
  endpoint: (orgId: OrgId, id: ReceiverId): Key => ({
    pk: isChannel(id) ? keys.channels(orgId) : keys.endpoints(orgId),
    sk: id,
  }),
  channels: (orgId: OrgId): string => `${orgId}#channels`,
  channelCount: (orgId: OrgId): Key => ({ pk: orgId, sk: 'channel-count' }),

  /** Redelivery jobs of an endpoint, and which of them is the latest, and whether it runs. */
  redeliveryJobs: (tenant: Tenant, endpoint: EndpointId): string =>
    `${buildTenantKey(tenant)}#${endpoint}#redeliveries`,
  redeliveryJob: (tenant: Tenant, endpoint: EndpointId, id: RedeliveryJobId): Key => ({
    pk: keys.redeliveryJobs(tenant, endpoint),
    sk: id,
  }),
  latestRedelivery: (tenant: Tenant, endpoint: EndpointId): Key => ({
    pk: `${buildTenantKey(tenant)}#${endpoint}#redelivery`,
    sk: 'latest',
  }),
  /** That an event has arrived at an endpoint by a redelivery; a partition each, because a job makes many. */
  arrival: (tenant: Tenant, endpoint: ReceiverId, event: EventId): Key => ({
    pk: `${buildTenantKey(tenant)}#${endpoint}#arrived#${event}`,
    sk: 'arrived',
  }),
  /** Which jobs run, of all organizations. */
  redeliveryRuns: (shard: number): string => `redelivery-runs#${shard}`,
  redeliveryRun: (id: RedeliveryJobId): Key => ({
    pk: keys.redeliveryRuns(getShard(id, REDELIVERY_RUN_SHARDS)),
    sk: id,
  }),

  conversations: (tenant: Tenant, shard: number): string =>
    `${buildTenantKey(tenant)}#conversations#${shard}`,
  conversation: (tenant: Tenant, id: ConversationId): Key => ({
    pk: keys.conversations(tenant, getShard(id, CONVERSATION_SHARDS)),
    sk: id,
  }),
  messages: (tenant: Tenant, id: ConversationId): string => `${buildTenantKey(tenant)}#${id}#messages`,
  message: (tenant: Tenant, conversation: ConversationId, id: MessageId): Key => ({
    pk: keys.messages(tenant, conversation),
    sk: id,
  }),
  escalations: (tenant: Tenant, id: ConversationId): string => `${buildTenantKey(tenant)}#${id}#escalations`,
  escalation: (tenant: Tenant, conversation: ConversationId, id: EscalationId): Key => ({
    pk: keys.escalations(tenant, conversation),
    sk: id,
  }),
  tickets: (tenant: Tenant, shard: number): string => `${buildTenantKey(tenant)}#tickets#${shard}`,
  ticket: (tenant: Tenant, id: TicketId): Key => ({
    pk: keys.tickets(tenant, getShard(id, TICKET_SHARDS)),
    sk: id,
  }),

  idempotency: (tenant: Tenant, route: string, key: string): Key => ({
    pk: `${buildTenantKey(tenant)}#idempotency#${route}#${key}`,
    sk: 'idempotency',
  }),

  /** Outbox and rate windows have a partition key alone. */
  event: (id: EventId): { pk: string } => ({ pk: id }),
  /** A delivery that is sent again owes its reminder to the outbox as an event owes its deliveries. */
  redelivery: (id: DeliveryId): { pk: string } => ({ pk: id }),
  rateWindow: ({ orgId, kind }: RateBucket, start: number): { pk: string } => ({
    pk: `${orgId}#${kind}#${start}`,
  }),
  /** When a key was last used; of the organization that lists it, for a sandbox key as well. */
  keyUse: (orgId: OrgId, id: KeyId): { pk: string } => ({ pk: `${orgId}#used#${id}` }),

  deliveries: (endpoint: ReceiverId, generation: number, shard: number): string =>
    `${endpoint}#${generation}#${shard}`,
  delivery: (endpoint: ReceiverId, generation: number, id: DeliveryId): Key => ({
    pk: keys.deliveries(endpoint, generation, getShard(id, DELIVERY_SHARDS)),
    sk: id,
  }),
  due: (state: DueState, shard: number): string => `${state}#${shard}`,
  dueOf: (state: DueState, id: DeliveryId): string => keys.due(state, getShard(id, DUE_SHARDS)),

  /**
   * An admin is told of each disabling once. It is known by its time, because an operator can enable an
   * endpoint again.
   */
  disablingNotice: (id: ReceiverId, disabledAt: string): { pk: string } => ({
    pk: `${id}#disabled#${disabledAt}`,
  }),

  /** What is told to the service's own workers. */
  notice: (id: string): { pk: string } => ({ pk: id }),

  /** Knowledge: sources, their number, their versions. A version's text is in parts. */
  sources: (tenant: Tenant, shard: number): string => `${buildTenantKey(tenant)}#sources#${shard}`,
  source: (tenant: Tenant, id: SourceId): Key => ({
    pk: keys.sources(tenant, getShard(id, SOURCE_SHARDS)),
    sk: id,
  }),
  sourceCount: (tenant: Tenant): Key => ({ pk: buildTenantKey(tenant), sk: 'source-count' }),
  /** Which checks of a tenant run. */
  checkSlots: (tenant: Tenant): Key => ({ pk: buildTenantKey(tenant), sk: 'check-slots' }),
  versions: (tenant: Tenant, id: SourceId): string => `${buildTenantKey(tenant)}#${id}#versions`,
  versionPart: (tenant: Tenant, id: SourceId, version: number, part: number): Key => ({
    pk: keys.versions(tenant, id),
    sk: `${String(version).padStart(10, '0')}#${String(part).padStart(2, '0')}`,
  }),
  /** When sources are due. */
  dueSources: (shard: number): string => `sources#${shard}`,
  dueSourcesOf: (id: SourceId): string => keys.dueSources(getShard(id, SOURCE_DUE_SHARDS)),

  /** Usage: that an event was counted, and the counts of a month, `2026-11`. */
  metered: (orgId: OrgId, eventId: string): Key => ({ pk: `${orgId}#metered#${eventId}`, sk: 'metered' }),
  usage: (orgId: OrgId): string => `${orgId}#usage`,
  usageOf: (orgId: OrgId, month: string, shard: number): Key => ({
    pk: keys.usage(orgId),
    sk: `${month}#${shard}`,
  }),

  /** What an e-mail is about, which is sent once, or once in a while. */
  mailing: (orgId: OrgId, about: string): { pk: string } => ({ pk: `${orgId}#${about}` }),
  /** What all organizations together were mailed. */
  stageMailing: (about: string): string => `stage#${about}`,
  /** When digests are due. */
  dueDigests: (): string => 'digests',

  /** By endpoint first: one query reads all its hours of a time. */
  ledgerOf: (id: ReceiverId, generation: number): string => `${id}#${generation}`,
  ledger: (id: ReceiverId, generation: number, hour: string): Key => ({
    pk: keys.ledgerOf(id, generation),
    sk: hour,
  }),
  /** Which endpoints have counts in the day of an hour: an audit reads what was active, and nothing else. */
  activeInDay: (hour: string, shard: number): string => `${hour.slice(0, 'yyyy-mm-dd'.length)}#${shard}`,
  active: (id: ReceiverId, generation: number, hour: string): Key => ({
    pk: keys.activeInDay(hour, getShard(id, LEDGER_SHARDS)),
    sk: keys.ledgerOf(id, generation),
  }),
};

/** Whether deliveries to a receiver are of a channel. */
const isChannel = (id: ReceiverId): id is ChannelId => id.startsWith('chn_');

/** Bounds of the identifiers of deliveries that were created from `start` until before `end`. */
export const deliveryKeyBounds = (start: Date, end: Date): [from: string, to: string] => [
  `dlv_${start.getTime().toString(16).padStart(12, '0')}`,
  `dlv_${end.getTime().toString(16).padStart(12, '0')}`,
];

/**
 * Bounds of the sort keys of a month's counts up to those of another's. The sign after `#` ends them,
 * whatever the shards are.
 */
export const usageKeyBounds = (from: string, to: string): [first: string, last: string] => [
  `${from}#`,
  `${to}$`,
];

/** All shards of a collection. */
export const listShards = (count: number): number[] => Array.from({ length: count }, (_, shard) => shard);

/**
 * Hashed, because the leading digits of an identifier are its time: they would send a whole minute to one
 * shard.
 */
function getShard(id: string, count: number): number {
  return createHash('sha256').update(id).digest().readUInt32BE(0) % count;
}
