import * as z from 'zod/mini';
import { all, assign, expression, isOneOf, unchanged } from '../aws/expression.ts';
import { ConversationId, EscalationId, type EventId, MessageId, TicketId, Timestamp } from '../aws/ids.ts';
import {
  followPartition,
  mergeScans,
  type Order,
  type Page,
  type PageRequest,
  readPage,
  type Scan,
  scanPartition,
} from '../aws/pages.ts';
import {
  EXISTS,
  get,
  getBatch,
  getMany,
  type Key,
  query,
  readRows,
  type Table,
  Throttled,
} from '../aws/table.ts';
import { buildAddition, buildUpdate, type Change } from '../aws/transaction.ts';
import {
  buildSandboxMark,
  CONVERSATION_SHARDS,
  type Kept,
  keys,
  listShards,
  TICKET_SHARDS,
} from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';

export const MessageRole = z.enum(['user', 'assistant', 'agent', 'system']);
/** Roles whose messages a channel shows. */
export const ChannelMessageRole = z.enum(['assistant', 'agent']);

/** Maximum length of the channel of a conversation, which need not be one of this service. */
export const MAX_CHANNEL_LENGTH = 200;

export const ConversationStatus = z.enum(['open', 'handed_off', 'resolved']);
export type ConversationStatus = z.infer<typeof ConversationStatus>;

/** A customer's own texts by name. */
export const Metadata = z.record(z.string(), z.string());

export const Conversation = z.object({
  id: ConversationId,
  channelId: z.string(),
  externalUserId: z.string(),
  status: ConversationStatus,
  metadata: z.optional(Metadata),
  createdAt: Timestamp,
  /** Of its last change; of its last message within `UPDATED_WITHIN_SECONDS`. */
  updatedAt: Timestamp,
  /** Set while the conversation is resolved. */
  resolvedAt: z.optional(Timestamp),
  resolvedBy: z.optional(z.string()),
  /** As `Kept`. */
  keptAs: z.optional(z.string()),
});
export type Conversation = z.infer<typeof Conversation>;

/** Entry of the index by external user. */
export const UserConversation = z.pick(Conversation, { id: true });

/** A handoff to a human, a resolution, or a message to a resolved conversation, which reopens it. */
export type StateChange = { at: Date } & (
  | { kind: 'hand-off' }
  | { kind: 'resolve'; by: string }
  | { kind: 'reopen' }
);

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
  const updatedAt = change.at.toISOString();
  return change.kind === 'resolve'
    ? { ...rest, status: to, updatedAt, resolvedAt: updatedAt, resolvedBy: change.by }
    : { ...rest, status: to, updatedAt };
}

/** Messages set a conversation's `updatedAt` at most so often: their transactions contend for its item. */
const UPDATED_WITHIN_SECONDS = 60;

/** Whether a message has to set `updatedAt`. */
export const isOutdated = ({ updatedAt }: Conversation, now: Date): boolean =>
  now.getTime() - Date.parse(updatedAt) >= UPDATED_WITHIN_SECONDS * 1000;

export const Message = z.object({
  id: MessageId,
  conversationId: ConversationId,
  role: MessageRole,
  content: z.string(),
  metadata: z.optional(Metadata),
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

export const TicketStatus = z.enum(['open', 'closed']);

/** A fallback ticket for follow-up, with or without a conversation. */
export const Ticket = z.object({
  id: TicketId,
  conversationId: z.optional(ConversationId),
  reason: z.optional(z.string()),
  status: TicketStatus,
  metadata: z.optional(Metadata),
  createdAt: Timestamp,
});
export type Ticket = z.infer<typeof Ticket>;

const matches = (
  { channelId, status, updatedAt }: Conversation,
  wanted: Omit<ConversationFilter, 'externalUserId'>,
): boolean =>
  (wanted.channelId === undefined || wanted.channelId === channelId) &&
  (wanted.status === undefined || wanted.status.includes(status)) &&
  (wanted.updatedAfter === undefined || updatedAt >= wanted.updatedAfter.toISOString()) &&
  (wanted.updatedBefore === undefined || updatedAt < wanted.updatedBefore.toISOString());

async function findRecord<T>(service: Table, key: Key, schema: { parse(row: unknown): T }) {
  const row = await get(service, key);
  return row && schema.parse(row);
}

/** Finds a record of a conversation, unless that was erased. */
async function findInConversation<T>(
  service: Table,
  tenant: Tenant,
  conversation: ConversationId,
  key: Key,
  schema: { parse(row: unknown): T },
): Promise<T | undefined> {
  const both = [keys.conversation(tenant, conversation), key];
  const rows = await getMany(service, both, { consistent: true });
  const row = rows.find(({ sk }) => sk === key.sk);
  return rows.length === both.length ? schema.parse(row) : undefined;
}

const addRecord = (service: Pick<Table, 'name'>, tenant: Tenant, key: Key, record: object): Change =>
  buildAddition(service, { ...key, ...buildSandboxMark(tenant), ...record });

/** All conditions must hold. */
export interface ConversationFilter {
  externalUserId?: string | undefined;
  channelId?: string | undefined;
  status?: readonly ConversationStatus[] | undefined;
  /** Range of `updatedAt`; `updatedBefore` is exclusive. */
  updatedAfter?: Date | undefined;
  updatedBefore?: Date | undefined;
}

/** Conversations of a user that one request reads: a large one takes 12 units. */
const USER_ROWS = 25;
/** Read units of a filtered page of a user's conversations, as many as the shards of all may take. */
const MAX_FILTERED_USER_UNITS = 240;
/**
 * Tells which conversations were erased. Whatever shows or sends what can have the text of a conversation and
 * is not found through the conversation asks this: events, deliveries, tickets, idempotency records.
 */
export const findErasedConversations =
  (service: Table) =>
  async (tenant: Tenant, ids: readonly (ConversationId | undefined)[]): Promise<ReadonlySet<unknown>> => {
    const wanted = [...new Set(ids)].flatMap((id) => (id === undefined ? [] : [keys.tombstone(tenant, id)]));
    const rows = await getMany(service, wanted, { consistent: true });
    return new Set(rows.map(({ conversationId }) => conversationId));
  };

/** As `findErasedConversations`, for one. */
export const isErasedConversation =
  (service: Table) =>
  async (tenant: Tenant, id: ConversationId | undefined): Promise<boolean> =>
    id !== undefined && (await get(service, keys.tombstone(tenant, id))) !== undefined;

/** Links what has keys of its own to its conversation, so that an erasure finds it. */
export const linkConversation = (
  service: Pick<Table, 'name'>,
  tenant: Tenant,
  conversation: ConversationId,
  id: TicketId | EventId,
  { keptAs }: Kept = {},
): Change => addRecord(service, tenant, keys.conversationLink(tenant, conversation, id), { keptAs });

export function conversationStore(service: Table) {
  /** Examines the conversations of a user by the index. */
  function scanUser(tenant: Tenant, externalUserId: string, filter: ConversationFilter) {
    const scanIndex = scanPartition(service, keys.userConversations(tenant, externalUserId), {
      parse: (row) => UserConversation.parse(row),
    });
    const scan: Scan<Conversation> = async (after, limit) => {
      const { items: entries, ...scanned } = await scanIndex(after, Math.min(limit, USER_ROWS));
      if (entries.length === 0) return { items: [], ...scanned };
      const wanted = entries.map(({ id }) => keys.conversation(tenant, id));
      const { rows, unread, units } = await getBatch(service, [
        { table: service, keys: wanted, consistent: true },
      ]);
      if (unread.size > 0) throw new Throttled(`${service.name} could not be read in full`);
      const items = readRows(service, rows.get(service.name) ?? [], (row) => Conversation.parse(row))
        .filter((conversation) => matches(conversation, filter))
        .toSorted((one, other) => (one.id < other.id ? 1 : -1));
      return { ...scanned, items, units: scanned.units + units };
    };
    return scan;
  }

  return {
    find: (tenant: Tenant, id: ConversationId) =>
      findRecord(service, keys.conversation(tenant, id), Conversation),

    list(tenant: Tenant, page: PageRequest, filter: ConversationFilter = {}): Promise<Page<Conversation>> {
      const { externalUserId, channelId, status, updatedAfter, updatedBefore } = filter;
      if (externalUserId !== undefined) {
        const others = [channelId, status, updatedAfter, updatedBefore];
        const isFiltered = others.some((value) => value !== undefined);
        const scan = scanUser(tenant, externalUserId, filter);
        return mergeScans([scan], page, isFiltered ? { isFiltered, maxUnits: MAX_FILTERED_USER_UNITS } : {});
      }
      const partitions = listShards(CONVERSATION_SHARDS).map((shard) => keys.conversations(tenant, shard));
      return readPage(service, partitions, page, {
        parse: (row) => Conversation.parse(row),
        // None is updated before it was created.
        times: updatedBefore && { prefix: 'cnv', from: new Date(0), to: updatedBefore },
        wanted: { channelId: channelId === undefined ? undefined : [channelId], status },
        filter: all(
          updatedAfter && expression`updatedAt >= ${updatedAfter.toISOString()}`,
          updatedBefore && expression`updatedAt < ${updatedBefore.toISOString()}`,
        ),
      });
    },

    /** Adds a conversation, and its id to those of its external user. */
    add: (tenant: Tenant, conversation: Conversation): Change[] => [
      addRecord(service, tenant, keys.conversation(tenant, conversation.id), conversation),
      addRecord(
        service,
        tenant,
        keys.userConversation(tenant, conversation.externalUserId, conversation.id),
        UserConversation.parse(conversation),
      ),
    ],

    /** Changes what a customer sets; refused as `conversation-changed` when it is no longer as read. */
    update: (
      tenant: Tenant,
      conversation: Conversation,
      given: Partial<Pick<Conversation, 'channelId' | 'metadata'>>,
      now: Date,
    ): Change =>
      buildUpdate(service, keys.conversation(tenant, conversation.id), {
        refusal: 'conversation-changed',
        update: expression`SET ${assign({ ...given, updatedAt: now.toISOString() })}`,
        if: unchanged(conversation, ['status', 'updatedAt']),
      }),

    /** Sets `updatedAt` for a message, unless another request does: all that write a conversation set it. */
    touch: (tenant: Tenant, conversation: Conversation, now: Date): Change => ({
      ...buildUpdate(service, keys.conversation(tenant, conversation.id), {
        refusal: 'conversation-changed',
        update: expression`SET updatedAt = ${now.toISOString()}`,
        if: unchanged(conversation, ['updatedAt']),
      }),
      isOptional: true,
    }),

    link: (tenant: Tenant, conversation: ConversationId, id: EventId, kept: Kept = {}): Change =>
      linkConversation(service, tenant, conversation, id, kept),

    /** Changes a conversation's state; refused as `conversation-changed` when its state does not allow it. */
    changeState(tenant: Tenant, id: ConversationId, move: StateChange): Change {
      const { from, to } = STATE_CHANGES[move.kind];
      const at = move.at.toISOString();
      return buildUpdate(service, keys.conversation(tenant, id), {
        refusal: 'conversation-changed',
        update:
          move.kind === 'resolve'
            ? expression`SET #status = ${to}, updatedAt = ${at}, resolvedAt = ${at}, resolvedBy = ${move.by}`
            : expression`SET #status = ${to}, updatedAt = ${at} REMOVE resolvedAt, resolvedBy`,
        if: isOneOf('status', from),
      });
    },
  };
}

/** Messages of a conversation. Callers check first that the conversation belongs to the tenant. */
export function messageStore(service: Table) {
  return {
    find: (tenant: Tenant, conversation: ConversationId, id: MessageId) =>
      findInConversation(service, tenant, conversation, keys.message(tenant, conversation, id), Message),

    list(
      tenant: Tenant,
      conversation: ConversationId,
      page: PageRequest,
      order: Order = 'newest first',
    ): Promise<Page<Message>> {
      const pk = keys.messages(tenant, conversation);
      return readPage(service, [pk], page, { parse: (row) => Message.parse(row), order });
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

    add: (tenant: Tenant, message: Message, kept: Kept = {}) =>
      addRecord(service, tenant, keys.message(tenant, message.conversationId, message.id), {
        ...message,
        ...kept,
      }),
  };
}

/** Escalation logs of conversations. Callers check first that the conversation belongs to the tenant. */
export function escalationStore(service: Table) {
  return {
    find: (tenant: Tenant, conversation: ConversationId, id: EscalationId) =>
      findInConversation(
        service,
        tenant,
        conversation,
        keys.escalation(tenant, conversation, id),
        Escalation,
      ),

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

    add: (tenant: Tenant, escalation: Escalation, kept: Kept = {}) =>
      addRecord(service, tenant, keys.escalation(tenant, escalation.conversationId, escalation.id), {
        ...escalation,
        ...kept,
      }),
  };
}

/** Tickets. Those of an erased conversation are gone, also before the purge. */
export function ticketStore(service: Table) {
  const findErased = findErasedConversations(service);

  async function withoutErased(tenant: Tenant, all: readonly Ticket[]): Promise<Ticket[]> {
    const erased = await findErased(
      tenant,
      all.map(({ conversationId }) => conversationId),
    );
    return all.filter(({ conversationId }) => !erased.has(conversationId));
  }

  return {
    async find(tenant: Tenant, id: TicketId): Promise<Ticket | undefined> {
      const ticket = await findRecord(service, keys.ticket(tenant, id), Ticket);
      return ticket && (await withoutErased(tenant, [ticket]))[0];
    },

    /** Changes what a customer sets. */
    update: (tenant: Tenant, id: TicketId, given: Partial<Pick<Ticket, 'status' | 'metadata'>>): Change =>
      buildUpdate(service, keys.ticket(tenant, id), {
        refusal: 'ticket-missing',
        update: expression`SET ${assign(given)}`,
        if: EXISTS,
      }),

    async list(tenant: Tenant, page: PageRequest): Promise<Page<Ticket>> {
      const partitions = listShards(TICKET_SHARDS).map((shard) => keys.tickets(tenant, shard));
      const listed = await readPage(service, partitions, page, { parse: (row) => Ticket.parse(row) });
      return { ...listed, items: await withoutErased(tenant, listed.items) };
    },

    /** Adds a ticket, and its id to its conversation. */
    add: (tenant: Tenant, ticket: Ticket, kept: Kept = {}): Change[] => [
      addRecord(service, tenant, keys.ticket(tenant, ticket.id), ticket),
      ...(ticket.conversationId === undefined
        ? []
        : [linkConversation(service, tenant, ticket.conversationId, ticket.id, kept)]),
    ],
  };
}
