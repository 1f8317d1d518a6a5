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

/**
 * Makes kinds of rows of a table.
 * @param schema what the stores read a row by
 * @param sample attributes of a row, with new identifiers
 * @param key under which the stores find the row
 * @param parse what else reads a row
 */
const kindsIn =
  (table: TableName) =>
  <T>(
    schema: z.ZodMiniType<T>,
    sample: (tenant: Tenant) => object,
    key: (item: T, tenant: Tenant) => Key,
    parse?: (row: unknown) => unknown,
  ): Kind => {
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
  };
const inService = kindsIn('service');
const inOutbox = kindsIn('outbox');
const inRates = kindsIn('rates');
const inKnowledge = kindsIn('knowledge');
const inUsage = kindsIn('usage');
const inLedger = kindsIn('ledger');

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
const counter = (make: typeof inService, name: string, key: (tenant: Tenant) => Key): Kind =>
  make(
    z.object({ [name]: z.int() }),
    () => ({ [name]: 1 }),
    (_, tenant) => key(tenant),
  );

const ListedApiKey = z.extend(ApiKey, { digest: z.string() });
const UsageOf = z.extend(UsageCounts, { orgId: OrgId, month: z.string() });
const Active = z.pick(LedgerEntry, { orgId: true, webhookId: true, generation: true });

/**
 * Every kind of row that the stores write, by the function that builds its key: a new one without a kind does
 * not compile.
 */
export const KINDS: Readonly<Record<RowKey | 'channel', Kind>> = {
  organization: inService(
    z.extend(Organization, { generation: z.int() }),
    ({ orgId, generation }) => ({ ...anOrganization({ id: orgId }), generation }),
    ({ id }) => keys.organization(id),
    OrganizationState.parse,
  ),
  pairing: inService(
    Pairing,
    ({ orgId }) => ({
      liveOrganizationId: orgId,
      sandboxOrganizationId: newId('org', NOW),
      createdAt: AT,
    }),
    ({ liveOrganizationId }) => keys.pairing(liveOrganizationId),
  ),
  purge: inService(
    Purge,
    ({ orgId }) => ({ orgId, generation: nextNumber(), requestedAt: AT, deleted: 0 }),
    keys.purge,
  ),
  retention: inService(
    Retention,
    ({ orgId }) => ({ orgId, retentionDays: nextNumber() }),
    ({ orgId }) => keys.retention(orgId),
  ),
  conversationLink: inService(
    z.object({}),
    () => ({}),
    (_, tenant) => keys.conversationLink(tenant, conversationOf(tenant), LINKED),
  ),
  tombstone: inService(
    z.object({ conversationId: ConversationId, erasureId: ErasureId }),
    (tenant) => ({ conversationId: conversationOf(tenant), erasureId: newId('era', NOW) }),
    (_, tenant) => keys.tombstone(tenant, conversationOf(tenant)),
  ),
  erasure: inService(
    Erasure,
    (tenant) => ({
      id: newId('era', NOW),
      reason: 'conversation',
      conversationIds: [conversationOf(tenant)],
      requestedAt: AT,
    }),
    ({ id }, tenant) => keys.erasure(tenant, id),
  ),
  auditEntry: inService(
    AuditEntry,
    ({ orgId }) => anAuditEntry({ orgId }),
    ({ orgId, id }) => keys.auditEntry(orgId, id),
  ),
  endpointCount: counter(inService, 'endpoints', ({ orgId }) => keys.endpointCount(orgId)),
  endpointHostCount: counter(inService, 'endpoints', ({ orgId }) => keys.endpointHostCount(orgId, HOST)),
  channelCount: counter(inService, 'channels', ({ orgId }) => keys.channelCount(orgId)),
  blockedHost: inService(
    BlockedHost,
    (tenant) => ({ host: `${hexOf(tenant)}-${nextNumber()}.example.com`, blockedAt: AT }),
    ({ host }) => keys.blockedHost(host),
  ),
  apiKey: inService(
    ApiKey,
    ({ orgId }) => anApiKey({ orgId }),
    ({ orgId }) => keys.apiKey(orgId),
  ),
  listedApiKey: inService(
    ListedApiKey,
    ({ orgId }) => ({ ...anApiKey({ orgId }), digest: 'digest' }),
    ({ orgId, id }) => keys.listedApiKey(orgId, id),
  ),
  endpoint: inService(
    Endpoint,
    ({ orgId }) => anEndpoint({ orgId, status: 'auto_disabled', disabledAt: AT }),
    ({ orgId, id }) => keys.endpoint(orgId, id),
  ),
  channel: inService(
    Channel,
    ({ orgId }) => anHttpChannel({ orgId }),
    ({ orgId, id }) => keys.endpoint(orgId, id),
  ),
  redeliveryJob: inService(
    RedeliveryJob,
    (tenant) => aRedeliveryJob(atEndpoint(tenant)),
    (job) => keys.redeliveryJob(job, job.webhookId, job.id),
  ),
  deletedEndpoint: inService(
    DeletedEndpoint,
    ({ orgId }) => ({ ...DeletedEndpoint.parse({ ...anEndpoint({ orgId }), deletedAt: AT }) }),
    ({ id, deletedAt }, { orgId }) => keys.deletedEndpoint(orgId, deletedAt, id),
  ),
  redeliveryRecord: inService(
    RedeliveryRecord,
    (tenant) => ({
      webhookId: endpointOf(tenant),
      eventId: newId('evt', NOW),
      deliveryId: newId('dlv', NOW),
    }),
    ({ webhookId, eventId }, tenant) => keys.redeliveryRecord(tenant, webhookId, eventId),
  ),
  redeliveryRun: inService(
    RedeliveryRun,
    (tenant) => ({
      ...tenant,
      ...{ id: newId('rdj', NOW), webhookId: newId('whk', NOW) },
      remindedAt: later(NOW, -seconds(3600)).toISOString(),
    }),
    keys.redeliveryRun,
  ),
  conversation: inService(
    Conversation,
    () => aConversation(),
    ({ id }, tenant) => keys.conversation(tenant, id),
  ),
  userConversation: inService(
    UserConversation,
    () => ({ id: newId('cnv', NOW) }),
    ({ id }, tenant) => keys.userConversation(tenant, EXTERNAL_USER, id),
  ),
  message: inService(
    Message,
    (tenant) => aMessage({ conversationId: conversationOf(tenant) }),
    ({ conversationId, id }, tenant) => keys.message(tenant, conversationId, id),
  ),
  escalation: inService(
    Escalation,
    (tenant) => anEscalation({ conversationId: conversationOf(tenant) }),
    ({ conversationId, id }, tenant) => keys.escalation(tenant, conversationId, id),
  ),
  ticket: inService(
    Ticket,
    () => aTicket(),
    ({ id }, tenant) => keys.ticket(tenant, id),
  ),
  idempotency: inService(
    IdempotencyRecord,
    () => ({ fingerprint: 'of-a-request', status: 201, location: '/api/v1/tickets/1', data: '{}' }),
    (_, tenant) => keys.idempotency(tenant, 'createTicket', 'a-key'),
  ),
  event: inOutbox(
    OutboxEvent,
    (tenant) => anEvent({ tenant }),
    (event) => keys.event(event, event.id),
    (row) => [PUBLICATION.parse(row), WORK.parse(row)],
  ),
  redelivery: inOutbox(
    RedeliveryOrder,
    (tenant) => {
      const { id, webhookId, eventId } = aDelivery(atEndpoint(tenant));
      return { kind: 'redelivery', deliveryMessage: { id, ...tenant, webhookId, eventId } };
    },
    ({ deliveryMessage, retryAfter }) => keys.redelivery(deliveryMessage.id, retryAfter),
    WORK.parse,
  ),
  notice: inOutbox(
    z.extend(BusEvent, { kind: z.literal('notice') }),
    (tenant) => {
      const sourceId = newId('src', NOW);
      const id = `${sourceId}#check`;
      return { kind: 'notice', id, type: 'source.check', ...tenant, createdAt: AT, data: { sourceId } };
    },
    ({ id }) => keys.notice(id),
    PUBLICATION.parse,
  ),
  rateWindow: inRates(
    z.object({ used: z.int() }),
    () => ({ used: 1 }),
    (_, { orgId }) => keys.rateWindow({ orgId, kind: 'live' }, NOW.getTime()),
  ),
  rateSchedule: inRates(
    RateSchedule,
    () => ({ next: NOW.getTime(), rate: 10, era: 1 }),
    (_, tenant) => keys.rateSchedule(endpointOf(tenant)),
  ),
  keyUse: inRates(
    KeyUse,
    () => ({ keyId: newId('key', NOW), lastUsedAt: AT }),
    ({ keyId }, { orgId }) => keys.keyUse(orgId, keyId),
  ),
  delivery: kindsIn('deliveries')(
    Delivery,
    (tenant) => ({
      ...aDelivery(atEndpoint(tenant)),
      dueIn: keys.due('watched', 0),
      dueKey: keys.dueKey(tenant.orgId, AT),
    }),
    ({ webhookId, generation, id }) => keys.delivery(webhookId, generation, id),
    parseDelivery,
  ),
  source: inKnowledge(
    Source,
    (tenant) => ({
      ...aSource(tenant),
      dueIn: keys.dueSources(0),
      dueAt: later(NOW, -1).toISOString(),
    }),
    ({ id }, tenant) => keys.source(tenant, id),
  ),
  sourceCount: counter(inKnowledge, 'sources', keys.sourceCount),
  checkSlots: inKnowledge(
    z.object({}),
    () => ({}),
    (_, tenant) => keys.checkSlots(tenant),
  ),
  versionPart: inKnowledge(
    z.object({ part: z.int(), text: z.instanceof(Uint8Array) }),
    () => ({ part: 0, text: new Uint8Array([1, 2, 3]) }),
    ({ part }, tenant) => keys.versionPart(tenant, sourceOf(tenant), VERSION, part),
  ),
  metered: inUsage(
    z.object({ orgId: OrgId }),
    ({ orgId }) => ({ orgId }),
    (_, tenant) => keys.metered(tenant.orgId, `evt_${hexOf(tenant)}`),
  ),
  usageOf: inUsage(
    UsageOf,
    ({ orgId }) => ({ orgId, month: MONTH, conversations: 1, messages: 2 }),
    (_, { orgId }) => keys.usageOf(orgId, MONTH, 0),
  ),
  mailing: kindsIn('mailings')(
    Mailing,
    () => ({ sentAt: AT, sentFor: newId('evt', NOW), claimToken: 'token', leaseUntil: AT }),
    (_, tenant) => keys.mailing(tenant.orgId, endpointOf(tenant)),
  ),
  active: inLedger(
    Active,
    ({ orgId }) => {
      const { webhookId, generation } = aLedgerEntry({ orgId });
      return { orgId, webhookId, generation };
    },
    ({ webhookId, generation }) => keys.active(webhookId, generation, HOUR),
  ),
  ledger: inLedger(
    LedgerEntry,
    ({ orgId }) => ({ ...aLedgerEntry({ orgId }), hour: HOUR }),
    ({ webhookId, generation, hour }) => keys.ledger(webhookId, generation, hour),
  ),
};

let number = 0;
function nextNumber(): number {
  number += 1;
  return number;
}
