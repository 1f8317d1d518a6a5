import * as z from 'zod';
import { type OrgId, ReceiverId, type SourceId } from '../../functions/aws/ids.ts';
import { Conversation, Escalation, Message, Ticket } from '../../functions/conversations/conversations.ts';
import { LedgerEntry } from '../../functions/delivery/ledger.ts';
import { PUBLICATION, WORK } from '../../functions/delivery/outbox.ts';
import { RedeliveryRecord } from '../../functions/delivery/redelivery.ts';
import { parseDelivery } from '../../functions/delivery/rows.ts';
import { RateSchedule } from '../../functions/delivery/turns.ts';
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
import { keys, type RateBucket } from '../../functions/tenancy/keys.ts';
import { Pairing } from '../../functions/tenancy/organizations.ts';
import { Purge } from '../../functions/tenancy/purge.ts';
import { Organization, OrganizationState, type Tenant } from '../../functions/tenancy/tenant.ts';
import type { Row } from '../doubles/tables/expressions.ts';
import type { TableName } from '../table-definitions.ts';

/** A kind of row. */
export interface Kind {
  table: TableName;
  /** Whether a row of the table is of this kind. */
  is(row: Row): boolean;
  /**
   * Reads the row as the stores do, and builds its key from the result: a row under another key is not found.
   * @throws a zod error when it is not readable
   */
  keyOf(row: Row): { pk: string; sk?: string };
  /** Why its key may differ from the built one: no present code builds it. */
  isFoundOtherwise?: string;
}

/** Functions that build the keys of single rows; the others build those of partitions. */
type RowKey = {
  [K in keyof typeof keys]: ReturnType<(typeof keys)[K]> extends { pk: string } ? K : never;
}[keyof typeof keys];

const at = (row: Row) => ({ pk: String(row.pk), sk: String(row.sk) });
const under = (ending: RegExp) => (row: Row) => ending.test(at(row).pk);
const sorted = (sk: string) => (row: Row) => row.sk === sk;
const owes = (kind: string | undefined) => (row: Row) => row.kind === kind;

/** The tenant in the prefix of a row's partition key. */
function parseTenant(row: Row): Tenant {
  const [orgId, generation] = at(row).pk.split('#');
  return { orgId: orgId as OrgId, generation: Number(generation) };
}
const parseOrgId = (row: Row): OrgId => parseTenant(row).orgId;

const isRateSchedule = ({ pk }: Row): boolean => String(pk).startsWith('pace#');
const isKeyUse = ({ pk }: Row): boolean => /#used#key_[0-9a-f]+$/.test(String(pk));

const counts = (name: string) => z.object({ [name]: z.int() });

/**
 * Every kind of row that the stores write, by the function that builds its key: a new one without a kind does
 * not compile.
 */
export const KINDS: Readonly<Record<RowKey, Kind>> = {
  organization: {
    table: 'service',
    is: sorted('organization'),
    keyOf(row) {
      OrganizationState.parse(row);
      return keys.organization(Organization.parse(row).id);
    },
  },
  pairing: {
    table: 'service',
    is: sorted('sandbox'),
    keyOf: (row) => keys.pairing(Pairing.parse(row).liveOrganizationId),
  },
  purge: { table: 'service', is: under(/^purges#/), keyOf: (row) => keys.purge(Purge.parse(row)) },
  auditEntry: {
    table: 'service',
    is: under(/#audit-log#\d+$/),
    keyOf(row) {
      const { orgId, id } = AuditEntry.parse(row);
      return keys.auditEntry(orgId, id);
    },
  },
  endpointCount: {
    table: 'service',
    is: sorted('endpoint-count'),
    keyOf(row) {
      counts('endpoints').parse(row);
      return keys.endpointCount(parseOrgId(row));
    },
  },
  endpointHostCount: {
    table: 'service',
    is: ({ sk }) => typeof sk === 'string' && sk.startsWith('endpoint-count#'),
    keyOf(row) {
      counts('endpoints').parse(row);
      return keys.endpointHostCount(parseOrgId(row), at(row).sk.slice('endpoint-count#'.length));
    },
  },
  blockedHost: {
    table: 'service',
    is: under(/^blocked-hosts$/),
    keyOf: (row) => keys.blockedHost(BlockedHost.parse(row).host),
  },
  channelCount: {
    table: 'service',
    is: sorted('channel-count'),
    keyOf(row) {
      counts('channels').parse(row);
      return keys.channelCount(parseOrgId(row));
    },
  },
  apiKey: {
    table: 'service',
    is: under(/^key#/),
    keyOf(row) {
      ApiKey.parse(row);
      return keys.apiKey(at(row).pk.slice('key#'.length));
    },
  },
  listedApiKey: {
    table: 'service',
    is: under(/#api-keys$/),
    keyOf(row) {
      const { orgId, id } = ApiKey.parse(row);
      return keys.listedApiKey(orgId, id);
    },
  },
  endpoint: {
    table: 'service',
    is: under(/#(webhooks|channels)$/),
    keyOf(row) {
      const { orgId, id } = (at(row).pk.endsWith('#channels') ? Channel : Endpoint).parse(row);
      return keys.endpoint(orgId, id);
    },
  },
  redeliveryJob: {
    table: 'service',
    is: under(/#redeliveries$/),
    keyOf(row) {
      const job = RedeliveryJob.parse(row);
      return keys.redeliveryJob(job, job.webhookId, job.id);
    },
  },
  deletedEndpoint: {
    table: 'service',
    is: under(/#deleted-webhooks$/),
    keyOf(row) {
      const { id, deletedAt } = DeletedEndpoint.parse(row);
      const [orgId] = at(row).pk.split('#');
      return keys.deletedEndpoint(orgId as OrgId, deletedAt, id);
    },
  },
  redeliveryRecord: {
    table: 'service',
    is: under(/#redelivered#evt_\w+$/),
    keyOf(row) {
      const { webhookId, eventId } = RedeliveryRecord.parse(row);
      return keys.redeliveryRecord(parseTenant(row), webhookId, eventId);
    },
  },
  redeliveryRun: {
    table: 'service',
    is: under(/^redelivery-runs#/),
    keyOf: (row) => keys.redeliveryRun(RedeliveryRun.parse(row)),
  },
  conversation: {
    table: 'service',
    is: under(/#conversations#\d+$/),
    keyOf: (row) => keys.conversation(parseTenant(row), Conversation.parse(row).id),
  },
  message: {
    table: 'service',
    is: under(/#messages$/),
    keyOf(row) {
      const { conversationId, id } = Message.parse(row);
      return keys.message(parseTenant(row), conversationId, id);
    },
  },
  escalation: {
    table: 'service',
    is: under(/#escalations$/),
    keyOf(row) {
      const { conversationId, id } = Escalation.parse(row);
      return keys.escalation(parseTenant(row), conversationId, id);
    },
  },
  ticket: {
    table: 'service',
    is: under(/#tickets#\d+$/),
    keyOf: (row) => keys.ticket(parseTenant(row), Ticket.parse(row).id),
  },
  idempotency: {
    table: 'service',
    is: sorted('idempotency'),
    keyOf(row) {
      IdempotencyRecord.parse(row);
      const [, , , route = '', key = ''] = at(row).pk.split('#');
      return keys.idempotency(parseTenant(row), route, key);
    },
  },
  event: {
    table: 'outbox',
    is: owes(undefined),
    keyOf(row) {
      PUBLICATION.parse(row);
      WORK.parse(row);
      const event = OutboxEvent.parse(row);
      return keys.event(event, event.id);
    },
  },
  redelivery: {
    table: 'outbox',
    is: owes('redelivery'),
    keyOf(row) {
      const owed = WORK.parse(row);
      if (owed?.kind !== 'redelivery') throw new Error('it is no redelivery');
      return keys.redelivery(owed.deliveryMessage.id, owed.retryAfter);
    },
  },
  notice: {
    table: 'outbox',
    is: owes('notice'),
    keyOf: (row) => keys.notice(String(PUBLICATION.parse(row)?.id)),
  },
  rateWindow: {
    table: 'rates',
    is: (row) => !isKeyUse(row) && !isRateSchedule(row),
    keyOf(row) {
      counts('used').parse(row);
      const [orgId, kind, start] = at(row).pk.split('#');
      return keys.rateWindow({ orgId, kind } as RateBucket, Number(start));
    },
  },
  rateSchedule: {
    table: 'rates',
    is: isRateSchedule,
    keyOf(row) {
      RateSchedule.parse(row);
      return keys.rateSchedule(String(row.pk).replace('pace#', '') as ReceiverId);
    },
  },
  keyUse: {
    table: 'rates',
    is: isKeyUse,
    keyOf(row) {
      const [orgId] = String(row.pk).split('#');
      return keys.keyUse(orgId as OrgId, KeyUse.parse(row).keyId);
    },
  },
  delivery: {
    table: 'deliveries',
    is: () => true,
    keyOf(row) {
      const { webhookId, generation, id } = parseDelivery(row);
      return keys.delivery(webhookId, generation, id);
    },
  },
  source: {
    table: 'knowledge',
    is: under(/#sources#\d+$/),
    keyOf: (row) => keys.source(parseTenant(row), Source.parse(row).id),
  },
  sourceCount: {
    table: 'knowledge',
    is: sorted('source-count'),
    keyOf(row) {
      counts('sources').parse(row);
      return keys.sourceCount(parseTenant(row));
    },
  },
  checkSlots: {
    table: 'knowledge',
    is: sorted('check-slots'),
    keyOf: (row) => keys.checkSlots(parseTenant(row)),
  },
  versionPart: {
    table: 'knowledge',
    is: under(/#versions$/),
    keyOf(row) {
      const { part } = z.object({ part: z.int(), text: z.instanceof(Uint8Array) }).parse(row);
      const [, , id] = at(row).pk.split('#');
      return keys.versionPart(parseTenant(row), id as SourceId, Number(at(row).sk.split('#')[0]), part);
    },
  },
  metered: {
    table: 'usage',
    is: sorted('metered'),
    keyOf: (row) => keys.metered(parseOrgId(row), String(at(row).pk.split('#')[2])),
  },
  usageOf: {
    table: 'usage',
    is: under(/#usage$/),
    keyOf(row) {
      UsageCounts.parse(row);
      const [month = '', shard] = at(row).sk.split('#');
      return keys.usageOf(parseOrgId(row), month, Number(shard));
    },
  },
  mailing: {
    table: 'mailings',
    is: () => true,
    keyOf(row) {
      Mailing.parse(row);
      const { pk } = at(row);
      return keys.mailing(parseOrgId(row), pk.slice(pk.indexOf('#') + 1));
    },
  },
  active: {
    table: 'ledger',
    is: (row) => row.hour === undefined,
    keyOf(row) {
      const { webhookId, generation } = z.object({ webhookId: ReceiverId, generation: z.int() }).parse(row);
      return keys.active(webhookId, generation, at(row).pk);
    },
  },
  ledger: {
    table: 'ledger',
    is: ({ hour }) => hour !== undefined,
    keyOf(row) {
      const { webhookId, generation, hour } = LedgerEntry.parse(row);
      return keys.ledger(webhookId, generation, hour);
    },
  },
};
