import * as z from 'zod/mini';
import { expression, isOneOf } from '../aws/expression.ts';
import { ConversationId, EscalationId, MessageId, TicketId, Timestamp } from '../aws/ids.ts';
import { followPartition, type Page, type PageRequest, readPage } from '../aws/pages.ts';
import { get, type Key, query, type Table } from '../aws/table.ts';
import { buildAddition, buildUpdate, type Change } from '../aws/transaction.ts';
import { buildSandboxMark, CONVERSATION_SHARDS, keys, listShards, TICKET_SHARDS } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';

export const MessageRole = z.enum(['user', 'assistant', 'agent', 'system']);
/** Roles whose messages a channel shows. */
export const ChannelMessageRole = z.enum(['assistant', 'agent']);

/** Maximum length of the channel of a conversation, which need not be one of this service. */
export const MAX_CHANNEL_LENGTH = 200;

export const ConversationStatus = z.enum(['open', 'handed_off', 'resolved']);
export type ConversationStatus = z.infer<typeof ConversationStatus>;

export const Conversation = z.object({
  id: ConversationId,
  channelId: z.string(),
  externalUserId: z.string(),
  status: ConversationStatus,
  createdAt: Timestamp,
  /** Set while the conversation is resolved. */
  resolvedAt: z.optional(Timestamp),
  resolvedBy: z.optional(z.string()),
});
export type Conversation = z.infer<typeof Conversation>;

/** A handoff to a human, a resolution, or a message to a resolved conversation, which reopens it. */
export type StateChange =
  | { kind: 'hand-off' }
  | { kind: 'resolve'; by: string; at: Date }
  | { kind: 'reopen' };

/**
 * States that each change may leave, and the state that it leads to (docs/specification.md, Conversations).
 */
const STATE_CHANGES: Record<StateChange['kind'], { from: ConversationStatus[]; to: ConversationStatus }> = {
  'hand-off': { from: ['open'], to: 'handed_off' },
  resolve: { from: ['open', 'handed_off'], to: 'resolved' },
  reopen: { from: ['resolved'], to: 'open' },
};

/** Returns the changed conversation; undefined when its state forbids the change. */
export function applyStateChange(conversation: Conversation, change: StateChange): Conversation | undefined {
  const { from, to } = STATE_CHANGES[change.kind];
  if (!from.includes(conversation.status)) return undefined;
  const { resolvedAt, resolvedBy, ...rest } = conversation;
  return change.kind === 'resolve'
    ? { ...rest, status: to, resolvedAt: change.at.toISOString(), resolvedBy: change.by }
    : { ...rest, status: to };
}

export const Message = z.object({
  id: MessageId,
  conversationId: ConversationId,
  role: MessageRole,
  content: z.string(),
  createdAt: Timestamp,
});
export type Message = z.infer<typeof Message>;

/** One handoff of a conversation to a human. */
export const Escalation = z.object({
  id: EscalationId,
  conversationId: ConversationId,
  reason: z.optional(z.string()),
  createdAt: Timestamp,
});
export type Escalation = z.infer<typeof Escalation>;

/** A fallback ticket for follow-up, with or without a conversation. */
export const Ticket = z.object({
  id: TicketId,
  conversationId: z.optional(ConversationId),
  reason: z.optional(z.string()),
  createdAt: Timestamp,
});
export type Ticket = z.infer<typeof Ticket>;

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
