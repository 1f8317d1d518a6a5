import { createHash } from 'node:crypto';
import type { DueState } from '../domain/due.ts';
import type {
  ConversationId,
  DeliveryId,
  EndpointId,
  EscalationId,
  EventId,
  KeyId,
  MessageId,
  OrgId,
  TicketId,
} from '../domain/ids.ts';
import type { RateBucket } from '../domain/rate-limit.ts';
import { isOfSandbox, type Tenant } from '../domain/tenant.ts';

/**
 * Every key of every table is built here and nowhere else. Keys of an organization's data begin with its tenant
 * (organization and generation), so that no read can leave it.
 *
 * Busy collections are spread over shards, because one partition key takes 1,000 write units a second:
 * conversations of one organization, and deliveries of one endpoint. A shard is found again from the identifier.
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

/** The text form of a tenant; also what cursors are bound to. */
export const tenantKey = (tenant: Tenant): string => `${tenant.orgId}#${tenant.generation}`;

/**
 * The key of the index that a purge reads (`OF_SANDBOX_INDEX`). Every row of a sandbox's data has it, whatever it is; no live row has it.
 * @returns attributes to write with the row
 */
export const markOf = (tenant: Tenant): { ofSandbox?: string } =>
  isOfSandbox(tenant) ? { ofSandbox: tenantKey(tenant) } : {};

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
  purgesOf: (orgId: OrgId): string => keys.purges(shardOf(orgId, PURGE_SHARDS)),
  endpointCount: (orgId: OrgId): Key => ({ pk: orgId, sk: 'endpoint-count' }),
  /** Looked up before the organization is known: by the digest of the key that the caller presents. */
  apiKey: (digest: string): Key => ({ pk: `key#${digest}`, sk: 'key' }),
  /** The same keys once more, as their organization lists them. */
  apiKeys: (orgId: OrgId): string => `${orgId}#api-keys`,
  listedApiKey: (orgId: OrgId, id: KeyId): Key => ({ pk: keys.apiKeys(orgId), sk: id }),

  /** Endpoints outlive a reset of their organization's data, so their partition has no generation. */
  endpoints: (orgId: OrgId): string => `${orgId}#webhooks`,
  endpoint: (orgId: OrgId, id: EndpointId): Key => ({ pk: keys.endpoints(orgId), sk: id }),

  conversations: (tenant: Tenant, shard: number): string => `${tenantKey(tenant)}#conversations#${shard}`,
  conversation: (tenant: Tenant, id: ConversationId): Key => ({
    pk: keys.conversations(tenant, shardOf(id, CONVERSATION_SHARDS)),
    sk: id,
  }),
  messages: (tenant: Tenant, id: ConversationId): string => `${tenantKey(tenant)}#${id}#messages`,
  message: (tenant: Tenant, conversation: ConversationId, id: MessageId): Key => ({
    pk: keys.messages(tenant, conversation),
    sk: id,
  }),
  escalations: (tenant: Tenant, id: ConversationId): string => `${tenantKey(tenant)}#${id}#escalations`,
  escalation: (tenant: Tenant, conversation: ConversationId, id: EscalationId): Key => ({
    pk: keys.escalations(tenant, conversation),
    sk: id,
  }),
  tickets: (tenant: Tenant, shard: number): string => `${tenantKey(tenant)}#tickets#${shard}`,
  ticket: (tenant: Tenant, id: TicketId): Key => ({
    pk: keys.tickets(tenant, shardOf(id, TICKET_SHARDS)),
    sk: id,
  }),

  idempotency: (tenant: Tenant, route: string, key: string): Key => ({
    pk: `${tenantKey(tenant)}#idempotency#${route}#${key}`,
    sk: 'idempotency',
  }),

  /** Outbox and rate windows have a partition key alone. */
  event: (id: EventId): { pk: string } => ({ pk: id }),
  /** A delivery that is sent again owes its reminder to the outbox as an event owes its deliveries. */
  redelivery: (id: DeliveryId): { pk: string } => ({ pk: id }),
  rateWindow: ({ orgId, kind }: RateBucket, start: number): { pk: string } => ({
    pk: `${orgId}#${kind}#${start}`,
  }),

  deliveries: (endpoint: EndpointId, generation: number, shard: number): string =>
    `${endpoint}#${generation}#${shard}`,
  delivery: (endpoint: EndpointId, generation: number, id: DeliveryId): Key => ({
    pk: keys.deliveries(endpoint, generation, shardOf(id, DELIVERY_SHARDS)),
    sk: id,
  }),
  due: (state: DueState, shard: number): string => `${state}#${shard}`,
  dueOf: (state: DueState, id: DeliveryId): string => keys.due(state, shardOf(id, DUE_SHARDS)),

  /** An admin is told of an endpoint's disabling once: an endpoint is disabled once. */
  disablingNotice: (id: EndpointId): { pk: string } => ({ pk: `${id}#disabled` }),

  /** By hour first: a check reads what was active in one hour, and nothing else. */
  ledgerHour: (hour: string, shard: number): string => `${hour}#${shard}`,
  ledger: (id: EndpointId, generation: number, hour: string): Key => ({
    pk: keys.ledgerHour(hour, shardOf(id, LEDGER_SHARDS)),
    sk: `${id}#${generation}`,
  }),
};

/** Bounds of the identifiers of deliveries that were created from `start` until before `end`. */
export const deliveriesBetween = (start: Date, end: Date): [from: string, to: string] => [
  `dlv_${start.getTime().toString(16).padStart(12, '0')}`,
  `dlv_${end.getTime().toString(16).padStart(12, '0')}`,
];

/** All shards of a collection. */
export const shards = (count: number): number[] => Array.from({ length: count }, (_, shard) => shard);

/** Hashed, because the leading digits of an identifier are its time: they would send a whole minute to one shard. */
function shardOf(id: string, count: number): number {
  return createHash('sha256').update(id).digest().readUInt32BE(0) % count;
}
