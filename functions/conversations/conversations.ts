import { expression, isOneOf } from '../aws/expression.ts';
import type { ConversationId, EscalationId, MessageId, TicketId } from '../aws/ids.ts';
import { followPartition, type Page, type PageRequest, readPage } from '../aws/pages.ts';
import { get, type Key, query, type Table } from '../aws/table.ts';
import { buildAddition, buildUpdate, type Change } from '../aws/transaction.ts';
import { buildSandboxMark, CONVERSATION_SHARDS, keys, listShards, TICKET_SHARDS } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import {
  Conversation,
  Escalation,
  Message,
  STATE_CHANGES,
  type StateChange,
  Ticket,
} from './conversation.ts';

async function findRecord<T>(service: Table, key: Key, schema: { parse(row: unknown): T }) {
  const row = await get(service, key);
  return row && schema.parse(row);
}

const addRecord = (service: Table, tenant: Tenant, key: Key, record: object): Change =>
  buildAddition(service, { ...key, ...buildSandboxMark(tenant), ...record });

export function conversationStore(service: Table) {
  return {
    find: (tenant: Tenant, id: ConversationId) =>
      findRecord(service, keys.conversation(tenant, id), Conversation),

    list(tenant: Tenant, page: PageRequest): Promise<Page<Conversation>> {
      const partitions = listShards(CONVERSATION_SHARDS).map((shard) => keys.conversations(tenant, shard));
      return readPage(service, partitions, page, { parse: (row) => Conversation.parse(row) });
    },

    add: (tenant: Tenant, conversation: Conversation) =>
      addRecord(service, tenant, keys.conversation(tenant, conversation.id), conversation),

    /** Changes a conversation's state; refused as `conversation-changed` when its state does not allow it. */
    changeState(tenant: Tenant, id: ConversationId, move: StateChange): Change {
      const { from, to } = STATE_CHANGES[move.kind];
      return buildUpdate(service, keys.conversation(tenant, id), {
        refusal: 'conversation-changed',
        update:
          move.kind === 'resolve'
            ? expression`SET #status = ${to}, resolvedAt = ${move.at.toISOString()}, resolvedBy = ${move.by}`
            : expression`SET #status = ${to} REMOVE resolvedAt, resolvedBy`,
        if: isOneOf('status', from),
      });
    },
  };
}

/** Messages of a conversation. Callers check first that the conversation belongs to the tenant. */
export function messageStore(service: Table) {
  return {
    find: (tenant: Tenant, conversation: ConversationId, id: MessageId) =>
      findRecord(service, keys.message(tenant, conversation, id), Message),

    list(tenant: Tenant, conversation: ConversationId, page: PageRequest): Promise<Page<Message>> {
      const pk = keys.messages(tenant, conversation);
      return readPage(service, [pk], page, { parse: (row) => Message.parse(row) });
    },

    /** Reads messages as soon as they are committed, consistently, and each of them once. */
    follow(
      tenant: Tenant,
      conversation: ConversationId,
      page: PageRequest,
      now: Date,
    ): Promise<Page<Message>> {
      const pk = keys.messages(tenant, conversation);
      return followPartition(service, pk, (row) => Message.parse(row), page, now);
    },

    add: (tenant: Tenant, message: Message) =>
      addRecord(service, tenant, keys.message(tenant, message.conversationId, message.id), message),
  };
}

/** Escalation logs of conversations. Callers check first that the conversation belongs to the tenant. */
export function escalationStore(service: Table) {
  return {
    find: (tenant: Tenant, conversation: ConversationId, id: EscalationId) =>
      findRecord(service, keys.escalation(tenant, conversation, id), Escalation),

    list(tenant: Tenant, conversation: ConversationId, page: PageRequest): Promise<Page<Escalation>> {
      const pk = keys.escalations(tenant, conversation);
      return readPage(service, [pk], page, { parse: (row) => Escalation.parse(row) });
    },

    /** The latest escalation of a conversation that was handed off. */
    async latest(tenant: Tenant, conversation: ConversationId): Promise<Escalation> {
      const where = expression`pk = ${keys.escalations(tenant, conversation)}`;
      const { rows } = await query(service, { where, newestFirst: true, limit: 1 });
      return Escalation.parse(rows[0]);
    },

    add: (tenant: Tenant, escalation: Escalation) =>
      addRecord(
        service,
        tenant,
        keys.escalation(tenant, escalation.conversationId, escalation.id),
        escalation,
      ),
  };
}

export function ticketStore(service: Table) {
  return {
    find: (tenant: Tenant, id: TicketId) => findRecord(service, keys.ticket(tenant, id), Ticket),

    list(tenant: Tenant, page: PageRequest): Promise<Page<Ticket>> {
      const partitions = listShards(TICKET_SHARDS).map((shard) => keys.tickets(tenant, shard));
      return readPage(service, partitions, page, { parse: (row) => Ticket.parse(row) });
    },

    add: (tenant: Tenant, ticket: Ticket) =>
      addRecord(service, tenant, keys.ticket(tenant, ticket.id), ticket),
  };
}
