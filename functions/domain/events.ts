import * as z from 'zod/mini';
import {
  ChannelId,
  ConversationId,
  EndpointId,
  EscalationId,
  EventId,
  MessageId,
  newId,
  OrgId,
  ReceiverId,
  TicketId,
} from './ids.ts';
import type { Tenant } from './tenant.ts';
import { TraceId, traced } from './trace.ts';

export const MessageRole = z.enum(['user', 'assistant', 'agent', 'system']);
/** Whose messages a channel shows: the external user wrote the others, or is not to see them. */
export const ChannelMessageRole = z.enum(['assistant', 'agent']);

/**
 * What each event tells (public-api.md, Events), and in which version of its shape: a changed `data` needs a new version
 * (public-api.md, Versioning 6). These schemas *build* `data`: a field that is not listed is dropped whatever the record at hand
 * holds, so that nothing else of it can leak.
 */
export const EVENT_CATALOGUE = {
  'conversation.created': {
    schemaVersion: 1,
    data: z.object({ conversationId: ConversationId, channelId: z.string(), externalUserId: z.string() }),
  },
  'message.received': {
    schemaVersion: 1,
    data: z.object({ conversationId: ConversationId, messageId: MessageId, role: MessageRole }),
  },
  'handoff.requested': {
    schemaVersion: 1,
    data: z.object({
      conversationId: ConversationId,
      escalationLogId: EscalationId,
      reason: z.optional(z.string()),
    }),
  },
  'ticket.created': {
    schemaVersion: 1,
    data: z.object({
      ticketId: TicketId,
      conversationId: z.optional(ConversationId),
      reason: z.optional(z.string()),
    }),
  },
  'conversation.resolved': {
    schemaVersion: 1,
    data: z.object({ conversationId: ConversationId, resolvedBy: z.string() }),
  },
  'webhook.test': { schemaVersion: 1, data: z.object({ webhookId: EndpointId }) },
  /** For the one channel that the conversation takes place on, which has to show the message: with its content. */
  'channel.message': {
    schemaVersion: 1,
    data: z.object({
      channelId: ChannelId,
      conversationId: ConversationId,
      messageId: MessageId,
      externalUserId: z.string(),
      role: ChannelMessageRole,
      content: z.string(),
    }),
  },
} as const;

type Catalogue = typeof EVENT_CATALOGUE;
export type EventType = keyof Catalogue;
export type EventData<T extends EventType> = z.infer<Catalogue[T]['data']>;

/** What an endpoint may list in its `events`. What is sent to one receiver only is not among them. */
export const SUBSCRIBABLE = [
  'conversation.created',
  'message.received',
  'handoff.requested',
  'ticket.created',
  'conversation.resolved',
] as const satisfies readonly EventType[];

export const SubscribableType = z.enum(SUBSCRIBABLE);
export type SubscribableType = z.infer<typeof SubscribableType>;
export const EventTypeName = z.enum([...SUBSCRIBABLE, 'webhook.test', 'channel.message']);

/** An event as the outbox holds it. `body` is the exact text that every attempt of every delivery signs and sends. */
export const OutboxEvent = z.object({
  id: EventId,
  orgId: OrgId,
  generation: z.int(),
  type: EventTypeName,
  createdAt: z.iso.datetime(),
  body: z.string(),
  /** Set when the event is for this endpoint or channel alone, whatever it subscribes to. */
  onlyTo: z.optional(ReceiverId),
  traceId: TraceId,
});
export type OutboxEvent = z.infer<typeof OutboxEvent>;

/**
 * Builds an event and serialises its envelope, once.
 * @param data taken through the type's allowlist: fields that it does not name are left out
 * @param context.id where it follows from the cause, because that may be met again
 * @param context.traceId of the API call that caused it
 * @throws a zod error when a listed field is missing or of the wrong type, which is a defect of the caller
 */
export function buildEvent<T extends EventType>(
  type: T,
  data: EventData<T>,
  context: {
    tenant: Tenant;
    now: Date;
    onlyTo?: ReceiverId;
    id?: EventId;
    traceId?: TraceId | undefined;
  },
): OutboxEvent {
  const { tenant, now, onlyTo, traceId, id = newId('evt', now) } = context;
  const createdAt = now.toISOString();
  const { schemaVersion, data: allowlist } = EVENT_CATALOGUE[type];
  return {
    id,
    orgId: tenant.orgId,
    generation: tenant.generation,
    type,
    createdAt,
    body: JSON.stringify({
      type,
      schemaVersion,
      orgId: tenant.orgId,
      createdAt,
      data: allowlist.parse(data),
    }),
    ...(onlyTo === undefined ? {} : { onlyTo }),
    ...traced(traceId),
  };
}
