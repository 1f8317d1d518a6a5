import * as z from 'zod/mini';
import {
  ConversationId,
  type EndpointId,
  ErasureId,
  newId,
  OrgId,
  type SourceId,
} from '../../functions/aws/ids.ts';
import {
  Conversation,
  Escalation,
  Message,
  Ticket,
  UserConversation,
} from '../../functions/conversations/conversations.ts';
import { Erasure } from '../../functions/conversations/erasures.ts';
import { Delivery } from '../../functions/delivery/delivery.ts';
import { LedgerEntry, toStartOfHour } from '../../functions/delivery/ledger.ts';
import { PUBLICATION, WORK } from '../../functions/delivery/outbox.ts';
import { RedeliveryOrder, RedeliveryRecord } from '../../functions/delivery/redelivery.ts';
import { parseDelivery } from '../../functions/delivery/rows.ts';
import { RateSchedule } from '../../functions/delivery/turns.ts';
import { BusEvent } from '../../functions/events/bus.ts';
import { OutboxEvent } from '../../functions/events/events.ts';
import { UsageCounts } from '../../functions/events/usage.ts';
import { IdempotencyRecord } from '../../functions/http/idempotency.ts';
import { Source } from '../../functions/knowledge/sources.ts';
import { Mailing } from '../../functions/notices/mailings.ts';
import { Channel } from '../../functions/receivers/channels.ts';
import { DeletedEndpoint, Endpoint } from '../../functions/receivers/endpoint.ts';
import { BlockedHost } from '../../functions/receivers/receiver-url.ts';
import { RedeliveryJob, RedeliveryRun } from '../../functions/redelivery/jobs.ts';
import { ApiKey, KeyUse } from '../../functions/tenancy/api-keys.ts';
import { AuditEntry } from '../../functions/tenancy/audit.ts';
import { keys } from '../../functions/tenancy/keys.ts';
import { Pairing, Retention } from '../../functions/tenancy/organizations.ts';
import { Purge } from '../../functions/tenancy/purge.ts';
import { Organization, OrganizationState, type Tenant } from '../../functions/tenancy/tenant.ts';
import {
  aConversation,
  aDelivery,
  aLedgerEntry,
  aMessage,
  anApiKey,
  anAuditEntry,
  anEndpoint,
  anEscalation,
  anEvent,
  anHttpChannel,
  anOrganization,
  aRedeliveryJob,
  aSource,
  aTicket,
  later,
  NOW,
  seconds,
} from '../builders.ts';
import type { TableName } from '../table-definitions.ts';

export type Row = Record<string, unknown> & { pk: string; sk?: string };
type Key = Pick<Row, 'pk' | 'sk'>;

interface Definition<T> {
  table: TableName;
  /** What the stores read a row by. */
  schema: z.ZodMiniType<T>;
  /** Attributes of a row, with new identifiers. */
  sample(tenant: Tenant): object;
  /** What else reads a row. */
  parse?(row: unknown): unknown;
  /** The key under which the stores find the row. */
  key(item: T, tenant: Tenant): Key;
}

/** A kind of row. */
export interface Kind {
  table: TableName;
  schema: z.ZodMiniType;
  /** A row, a new one each time. */
  make(tenant: Tenant): Row;
  /**
   * The key under which the stores find the row.
   * @throws a zod error when the row is not readable
   */
  keyOf(row: unknown, tenant: Tenant): Key;
}

/** Functions that build the keys of single rows; the others build those of partitions. */
type RowKey = {
  [K in keyof typeof keys]: ReturnType<(typeof keys)[K]> extends { pk: string } ? K : never;
}[keyof typeof keys];

function kind<T>({ table, schema, sample, parse, key }: Definition<T>): Kind {
  function keyOf(row: unknown, tenant: Tenant): Key {
    parse?.(row);
    return key(schema.parse(row), tenant);
  }
  return {
    table,
    schema,
    keyOf,
    make(tenant) {
      const attributes = sample(tenant);
      return { ...keyOf(attributes, tenant), ...attributes };
    },
  };
}

const AT = NOW.toISOString();
const HOUR = toStartOfHour(NOW);
/** Parts of keys that no attribute repeats. */
const HOST = 'receiver.example.com';
const MONTH = '2026-11';
const VERSION = 3;
export const EXTERNAL_USER = 'visitor-1';
const hexOf = ({ orgId }: Pick<Tenant, 'orgId'>): string => orgId.slice('org_'.length);
/** The endpoint, the conversation and the source of all rows of an organization. */
export const endpointOf = (tenant: Pick<Tenant, 'orgId'>): EndpointId => `whk_${hexOf(tenant)}`;
/** A ticket that is linked to its conversation. */
const LINKED = newId('tkt', NOW);

export const conversationOf = (tenant: Pick<Tenant, 'orgId'>): ConversationId => `cnv_${hexOf(tenant)}`;
const sourceOf = (tenant: Tenant): SourceId => `src_${hexOf(tenant)}`;
const atEndpoint = (tenant: Tenant) => ({ ...tenant, webhookId: endpointOf(tenant) });

/** A row that counts, and has nothing else. */
const counter = (table: TableName, name: string, key: (tenant: Tenant) => Key): Kind =>
  kind({
    table,
    sample: () => ({ [name]: 1 }),
    schema: z.object({ [name]: z.int() }),
    key: (_, tenant) => key(tenant),
  });

const ListedApiKey = z.extend(ApiKey, { digest: z.string() });
const UsageOf = z.extend(UsageCounts, { orgId: OrgId, month: z.string() });
const Active = z.pick(LedgerEntry, { orgId: true, webhookId: true, generation: true });

/**
 * Every kind of row that the stores write, by the function that builds its key: a new one without a kind does
 * not compile.
 */
export const KINDS: Readonly<Record<RowKey | 'channel', Kind>> = {
  organization: kind({
    table: 'service',
    sample: ({ orgId, generation }) => ({ ...anOrganization({ id: orgId }), generation }),
    schema: z.extend(Organization, { generation: z.int() }),
    parse: OrganizationState.parse,
    key: ({ id }) => keys.organization(id),
  }),
  pairing: kind({
    table: 'service',
    sample: ({ orgId }) => ({
      liveOrganizationId: orgId,
      sandboxOrganizationId: newId('org', NOW),
      createdAt: AT,
    }),
    schema: Pairing,
    key: ({ liveOrganizationId }) => keys.pairing(liveOrganizationId),
  }),
  purge: kind({
    table: 'service',
    sample: ({ orgId }) => ({ orgId, generation: nextNumber(), requestedAt: AT, deleted: 0 }),
    schema: Purge,
    key: keys.purge,
  }),
  retention: kind({
    table: 'service',
    sample: ({ orgId }) => ({ orgId, retentionDays: nextNumber() }),
    schema: Retention,
    key: ({ orgId }) => keys.retention(orgId),
  }),
  conversationLink: kind({
    table: 'service',
    sample: () => ({}),
    schema: z.object({}),
    key: (_, tenant) => keys.conversationLink(tenant, conversationOf(tenant), LINKED),
  }),
  tombstone: kind({
    table: 'service',
    sample: (tenant) => ({ conversationId: conversationOf(tenant), erasureId: newId('era', NOW) }),
    schema: z.object({ conversationId: ConversationId, erasureId: ErasureId }),
    key: (_, tenant) => keys.tombstone(tenant, conversationOf(tenant)),
  }),
  erasure: kind({
    table: 'service',
    sample: (tenant) => ({
      id: newId('era', NOW),
      reason: 'conversation',
      conversationIds: [conversationOf(tenant)],
      requestedAt: AT,
    }),
    schema: Erasure,
    key: ({ id }, tenant) => keys.erasure(tenant, id),
  }),
  auditEntry: kind({
    table: 'service',
    sample: ({ orgId }) => anAuditEntry({ orgId }),
    schema: AuditEntry,
    key: ({ orgId, id }) => keys.auditEntry(orgId, id),
  }),
  endpointCount: counter('service', 'endpoints', ({ orgId }) => keys.endpointCount(orgId)),
  endpointHostCount: counter('service', 'endpoints', ({ orgId }) => keys.endpointHostCount(orgId, HOST)),
  channelCount: counter('service', 'channels', ({ orgId }) => keys.channelCount(orgId)),
  blockedHost: kind({
    table: 'service',
    sample: (tenant) => ({ host: `${hexOf(tenant)}-${nextNumber()}.example.com`, blockedAt: AT }),
    schema: BlockedHost,
    key: ({ host }) => keys.blockedHost(host),
  }),
  apiKey: kind({
    table: 'service',
    sample: ({ orgId }) => anApiKey({ orgId }),
    schema: ApiKey,
    key: ({ orgId }) => keys.apiKey(orgId),
  }),
  listedApiKey: kind({
    table: 'service',
    sample: ({ orgId }) => ({ ...anApiKey({ orgId }), digest: 'digest' }),
    schema: ListedApiKey,
    key: ({ orgId, id }) => keys.listedApiKey(orgId, id),
  }),
  endpoint: kind({
    table: 'service',
    sample: ({ orgId }) => anEndpoint({ orgId, status: 'auto_disabled', disabledAt: AT }),
    schema: Endpoint,
    key: ({ orgId, id }) => keys.endpoint(orgId, id),
  }),
  channel: kind({
    table: 'service',
    sample: ({ orgId }) => anHttpChannel({ orgId }),
    schema: Channel,
    key: ({ orgId, id }) => keys.endpoint(orgId, id),
  }),
  redeliveryJob: kind({
    table: 'service',
    sample: (tenant) => aRedeliveryJob(atEndpoint(tenant)),
    schema: RedeliveryJob,
    key: (job) => keys.redeliveryJob(job, job.webhookId, job.id),
  }),
  deletedEndpoint: kind({
    table: 'service',
    sample: ({ orgId }) => ({ ...DeletedEndpoint.parse({ ...anEndpoint({ orgId }), deletedAt: AT }) }),
    schema: DeletedEndpoint,
    key: ({ id, deletedAt }, { orgId }) => keys.deletedEndpoint(orgId, deletedAt, id),
  }),
  redeliveryRecord: kind({
    table: 'service',
    sample: (tenant) => ({
      webhookId: endpointOf(tenant),
      eventId: newId('evt', NOW),
      deliveryId: newId('dlv', NOW),
    }),
    schema: RedeliveryRecord,
    key: ({ webhookId, eventId }, tenant) => keys.redeliveryRecord(tenant, webhookId, eventId),
  }),
  redeliveryRun: kind({
    table: 'service',
    sample: (tenant) => ({
      ...tenant,
      ...{ id: newId('rdj', NOW), webhookId: newId('whk', NOW) },
      remindedAt: later(NOW, -seconds(3600)).toISOString(),
    }),
    schema: RedeliveryRun,
    key: keys.redeliveryRun,
  }),
  conversation: kind({
    table: 'service',
    sample: () => aConversation(),
    schema: Conversation,
    key: ({ id }, tenant) => keys.conversation(tenant, id),
  }),
  userConversation: kind({
    table: 'service',
    sample: () => ({ id: newId('cnv', NOW) }),
    schema: UserConversation,
    key: ({ id }, tenant) => keys.userConversation(tenant, EXTERNAL_USER, id),
  }),
  message: kind({
    table: 'service',
    sample: (tenant) => aMessage({ conversationId: conversationOf(tenant) }),
    schema: Message,
    key: ({ conversationId, id }, tenant) => keys.message(tenant, conversationId, id),
  }),
  escalation: kind({
    table: 'service',
    sample: (tenant) => anEscalation({ conversationId: conversationOf(tenant) }),
    schema: Escalation,
    key: ({ conversationId, id }, tenant) => keys.escalation(tenant, conversationId, id),
  }),
  ticket: kind({
    table: 'service',
    sample: () => aTicket(),
    schema: Ticket,
    key: ({ id }, tenant) => keys.ticket(tenant, id),
  }),
  idempotency: kind({
    table: 'service',
    sample: () => ({ fingerprint: 'of-a-request', status: 201, location: '/api/v1/tickets/1', data: '{}' }),
    schema: IdempotencyRecord,
    key: (_, tenant) => keys.idempotency(tenant, 'createTicket', 'a-key'),
  }),
  event: kind({
    table: 'outbox',
    sample: (tenant) => anEvent({ tenant }),
    schema: OutboxEvent,
    parse: (row) => [PUBLICATION.parse(row), WORK.parse(row)],
    key: (event) => keys.event(event, event.id),
  }),
  redelivery: kind({
    table: 'outbox',
    sample(tenant) {
      const { id, webhookId, eventId } = aDelivery(atEndpoint(tenant));
      return { kind: 'redelivery', deliveryMessage: { id, ...tenant, webhookId, eventId } };
    },
    schema: RedeliveryOrder,
    parse: WORK.parse,
    key: ({ deliveryMessage, retryAfter }) => keys.redelivery(deliveryMessage.id, retryAfter),
  }),
  notice: kind({
    table: 'outbox',
    sample(tenant) {
      const sourceId = newId('src', NOW);
      const id = `${sourceId}#check`;
      return { kind: 'notice', id, type: 'source.check', ...tenant, createdAt: AT, data: { sourceId } };
    },
    schema: z.extend(BusEvent, { kind: z.literal('notice') }),
    parse: PUBLICATION.parse,
    key: ({ id }) => keys.notice(id),
  }),
  rateWindow: kind({
    table: 'rates',
    sample: () => ({ used: 1 }),
    schema: z.object({ used: z.int() }),
    key: (_, { orgId }) => keys.rateWindow({ orgId, kind: 'live' }, NOW.getTime()),
  }),
  rateSchedule: kind({
    table: 'rates',
    sample: () => ({ next: NOW.getTime(), rate: 10, era: 1 }),
    schema: RateSchedule,
    key: (_, tenant) => keys.rateSchedule(endpointOf(tenant)),
  }),
  keyUse: kind({
    table: 'rates',
    sample: () => ({ keyId: newId('key', NOW), lastUsedAt: AT }),
    schema: KeyUse,
    key: ({ keyId }, { orgId }) => keys.keyUse(orgId, keyId),
  }),
  delivery: kind({
    table: 'deliveries',
    sample: (tenant) => ({
      ...aDelivery(atEndpoint(tenant)),
      dueIn: keys.due('watched', 0),
      dueKey: keys.dueKey(tenant.orgId, AT),
    }),
    schema: Delivery,
    parse: parseDelivery,
    key: ({ webhookId, generation, id }) => keys.delivery(webhookId, generation, id),
  }),
  source: kind({
    table: 'knowledge',
    sample: (tenant) => ({
      ...aSource(tenant),
      dueIn: keys.dueSources(0),
      dueAt: later(NOW, -1).toISOString(),
    }),
    schema: Source,
    key: ({ id }, tenant) => keys.source(tenant, id),
  }),
  sourceCount: counter('knowledge', 'sources', keys.sourceCount),
  checkSlots: kind({
    table: 'knowledge',
    sample: () => ({}),
    schema: z.object({}),
    key: (_, tenant) => keys.checkSlots(tenant),
  }),
  versionPart: kind({
    table: 'knowledge',
    sample: () => ({ part: 0, text: new Uint8Array([1, 2, 3]) }),
    schema: z.object({ part: z.int(), text: z.instanceof(Uint8Array) }),
    key: ({ part }, tenant) => keys.versionPart(tenant, sourceOf(tenant), VERSION, part),
  }),
  metered: kind({
    table: 'usage',
    sample: ({ orgId }) => ({ orgId }),
    schema: z.object({ orgId: OrgId }),
    key: (_, tenant) => keys.metered(tenant.orgId, `evt_${hexOf(tenant)}`),
  }),
  usageOf: kind({
    table: 'usage',
    sample: ({ orgId }) => ({ orgId, month: MONTH, conversations: 1, messages: 2 }),
    schema: UsageOf,
    key: (_, { orgId }) => keys.usageOf(orgId, MONTH, 0),
  }),
  mailing: kind({
    table: 'mailings',
    sample: () => ({ sentAt: AT, sentFor: newId('evt', NOW), claimToken: 'token', leaseUntil: AT }),
    schema: Mailing,
    key: (_, tenant) => keys.mailing(tenant.orgId, endpointOf(tenant)),
  }),
  active: kind({
    table: 'ledger',
    sample({ orgId }) {
      const { webhookId, generation } = aLedgerEntry({ orgId });
      return { orgId, webhookId, generation };
    },
    schema: Active,
    key: ({ webhookId, generation }) => keys.active(webhookId, generation, HOUR),
  }),
  ledger: kind({
    table: 'ledger',
    sample: ({ orgId }) => ({ ...aLedgerEntry({ orgId }), hour: HOUR }),
    schema: LedgerEntry,
    key: ({ webhookId, generation, hour }) => keys.ledger(webhookId, generation, hour),
  }),
};

let number = 0;
function nextNumber(): number {
  number += 1;
  return number;
}
