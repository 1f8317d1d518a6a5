import * as z from 'zod/mini';
import {
  ConversationId,
  DeliveryId,
  EndpointId,
  ErasureId,
  EscalationId,
  MessageId,
  TicketId,
  Timestamp,
} from '../../aws/ids.ts';
import {
  ConversationStatus,
  MAX_CHANNEL_LENGTH,
  MessageRole,
  Metadata,
  TicketStatus,
} from '../../conversations/conversations.ts';
import { ErasureReason } from '../../conversations/erasures.ts';
import { DeliveryStatus } from '../../delivery/delivery.ts';
import type { Route } from '../../http/route.ts';
import { listed, metadata, moment, orNull, PageQuery, SortOrder, text } from '../fields.ts';

const ChannelName = text(MAX_CHANNEL_LENGTH);
const ExternalUserId = text(200);
/** Empty when there is none. */
const ShownMetadata = z._default(Metadata, {});

export const CreateConversation = z.strictObject({
  channelId: ChannelName,
  externalUserId: ExternalUserId,
  metadata: z.optional(metadata),
});
export const UpdateConversation = z.strictObject({
  channelId: z.optional(ChannelName),
  metadata: z.optional(metadata),
});
export const ListConversationsQuery = z.extend(PageQuery, {
  externalUserId: z.optional(ExternalUserId),
  channelId: z.optional(ChannelName),
  status: z.optional(listed(ConversationStatus)),
  updatedAfter: z.optional(moment),
  updatedBefore: z.optional(moment),
});
export const Conversation = z.object({
  id: ConversationId,
  channelId: z.string(),
  externalUserId: z.string(),
  status: ConversationStatus,
  resolvedAt: orNull(Timestamp),
  resolvedBy: orNull(z.string()),
  metadata: ShownMetadata,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

/** Both bodies are optional. */
export const RequestHandoff = z._default(z.strictObject({ reason: z.optional(text(1000)) }), {});
export const ResolveConversation = z._default(z.strictObject({ resolvedBy: z._default(text(200), 'api') }), {
  resolvedBy: 'api',
});

export const Escalation = z.object({
  id: EscalationId,
  conversationId: ConversationId,
  reason: orNull(z.string()),
  createdAt: Timestamp,
});

/** Limit of a message, below the body's 256 KiB, so that a row stays below DynamoDB's 400 KB. */
export const CreateMessage = z.strictObject({
  role: MessageRole,
  content: text(100_000),
  metadata: z.optional(metadata),
});
export const Message = z.object({
  id: MessageId,
  conversationId: ConversationId,
  role: MessageRole,
  content: z.string(),
  metadata: ShownMetadata,
  createdAt: Timestamp,
});

/** The delivery of `conversation.deleted` to an endpoint. */
export const ErasureNotification = z.object({
  conversationId: ConversationId,
  webhookId: EndpointId,
  deliveryId: DeliveryId,
  status: DeliveryStatus,
  confirmed: z.boolean(),
});
export const Erasure = z.object({
  id: ErasureId,
  reason: ErasureReason,
  conversationIds: z.array(ConversationId),
  notifications: z.array(ErasureNotification),
  previousId: orNull(ErasureId),
  requestedAt: Timestamp,
  completedAt: orNull(Timestamp),
});

/** As it is in the path, encoded. */
export const EncodedUserId = z.string();

const ConversationParams = z.object({ id: ConversationId });

export const CreateTicket = z._default(
  z.strictObject({
    conversationId: z.optional(ConversationId),
    reason: z.optional(text(1000)),
    metadata: z.optional(metadata),
  }),
  {},
);
export const UpdateTicket = z.strictObject({
  status: z.optional(TicketStatus),
  metadata: z.optional(metadata),
});
export const Ticket = z.object({
  id: TicketId,
  conversationId: orNull(ConversationId),
  reason: orNull(z.string()),
  status: TicketStatus,
  metadata: ShownMetadata,
  createdAt: Timestamp,
});

/** The only response with the token. */
export const VisitorToken = z.object({ token: z.string(), expiresAt: Timestamp });

/** Visitors do not see the service's own messages. */
export const VisibleRole = z.enum(['user', 'assistant', 'agent']);
export const WidgetMessage = z.object({
  id: MessageId,
  role: VisibleRole,
  content: z.string(),
  createdAt: Timestamp,
});

/** Short, because visitors are untrusted. */
export const CreateWidgetMessage = z.strictObject({ content: text(4000) });

export const createConversation = {
  name: 'create-conversation',
  method: 'POST',
  path: '/v1/conversations',
  scope: 'write:conversations',
  idempotency: 'honoured',
  audit: 'none',
  body: CreateConversation,
  success: { status: 201, data: Conversation },
  refusals: ['GONE'],
} as const satisfies Route;

export const listConversations = {
  name: 'list-conversations',
  method: 'GET',
  path: '/v1/conversations',
  scope: 'read:conversations',
  query: ListConversationsQuery,
  success: { status: 200, data: z.array(Conversation) },
} as const satisfies Route;

export const readConversation = {
  name: 'read-conversation',
  method: 'GET',
  path: '/v1/conversations/{id}',
  scope: 'read:conversations',
  params: ConversationParams,
  success: { status: 200, data: Conversation },
} as const satisfies Route;

export const updateConversation = {
  name: 'update-conversation',
  method: 'PATCH',
  path: '/v1/conversations/{id}',
  scope: 'write:conversations',
  audit: 'none',
  params: ConversationParams,
  body: UpdateConversation,
  success: { status: 200, data: Conversation },
} as const satisfies Route;

export const deleteConversation = {
  name: 'delete-conversation',
  method: 'DELETE',
  path: '/v1/conversations/{id}',
  scope: 'write:conversations',
  audit: 'erasure.created',
  params: ConversationParams,
  success: { status: 204, data: z.undefined() },
} as const satisfies Route;

export const deleteContact = {
  name: 'delete-contact',
  method: 'DELETE',
  path: '/v1/contacts/{externalUserId}',
  scope: 'write:conversations',
  audit: 'erasure.created',
  params: z.object({ externalUserId: EncodedUserId }),
  success: { status: 204, data: z.undefined() },
} as const satisfies Route;

export const readErasure = {
  name: 'read-erasure',
  method: 'GET',
  path: '/v1/erasures/{id}',
  scope: 'read:conversations',
  params: z.object({ id: ErasureId }),
  success: { status: 200, data: Erasure },
} as const satisfies Route;

export const createMessage = {
  name: 'create-message',
  method: 'POST',
  path: '/v1/conversations/{id}/messages',
  scope: 'write:conversations',
  idempotency: 'honoured',
  audit: 'none',
  params: ConversationParams,
  body: CreateMessage,
  success: { status: 201, data: Message },
  refusals: ['GONE'],
} as const satisfies Route;

export const listMessages = {
  name: 'list-messages',
  method: 'GET',
  path: '/v1/conversations/{id}/messages',
  scope: 'read:conversations',
  params: ConversationParams,
  query: z.extend(PageQuery, { order: z.optional(SortOrder) }),
  success: { status: 200, data: z.array(Message) },
} as const satisfies Route;

export const readMessage = {
  name: 'read-message',
  method: 'GET',
  path: '/v1/conversations/{id}/messages/{messageId}',
  scope: 'read:conversations',
  params: z.object({ id: ConversationId, messageId: MessageId }),
  success: { status: 200, data: Message },
} as const satisfies Route;

export const requestHandoff = {
  name: 'request-handoff',
  method: 'POST',
  path: '/v1/conversations/{id}/handoff',
  scope: 'write:conversations',
  idempotency: 'honoured',
  audit: 'none',
  params: ConversationParams,
  body: RequestHandoff,
  success: { status: 201, unchanged: 200, data: Escalation },
  refusals: ['CONFLICT', 'GONE'],
} as const satisfies Route;

export const listEscalations = {
  name: 'list-escalations',
  method: 'GET',
  path: '/v1/conversations/{id}/escalations',
  scope: 'read:conversations',
  params: ConversationParams,
  query: PageQuery,
  success: { status: 200, data: z.array(Escalation) },
} as const satisfies Route;

export const readEscalation = {
  name: 'read-escalation',
  method: 'GET',
  path: '/v1/conversations/{id}/escalations/{escalationLogId}',
  scope: 'read:conversations',
  params: z.object({ id: ConversationId, escalationLogId: EscalationId }),
  success: { status: 200, data: Escalation },
} as const satisfies Route;

export const resolveConversation = {
  name: 'resolve-conversation',
  method: 'POST',
  path: '/v1/conversations/{id}/resolve',
  scope: 'write:conversations',
  idempotency: 'honoured',
  audit: 'none',
  params: ConversationParams,
  body: ResolveConversation,
  success: { status: 200, data: Conversation },
  refusals: ['GONE'],
} as const satisfies Route;

export const createTicket = {
  name: 'create-ticket',
  method: 'POST',
  path: '/v1/tickets',
  scope: 'write:conversations',
  idempotency: 'honoured',
  audit: 'none',
  body: CreateTicket,
  success: { status: 201, data: Ticket },
  refusals: ['NOT_FOUND', 'GONE'],
} as const satisfies Route;

export const listTickets = {
  name: 'list-tickets',
  method: 'GET',
  path: '/v1/tickets',
  scope: 'read:conversations',
  query: PageQuery,
  success: { status: 200, data: z.array(Ticket) },
} as const satisfies Route;

export const readTicket = {
  name: 'read-ticket',
  method: 'GET',
  path: '/v1/tickets/{id}',
  scope: 'read:conversations',
  params: z.object({ id: TicketId }),
  success: { status: 200, data: Ticket },
} as const satisfies Route;

export const updateTicket = {
  name: 'update-ticket',
  method: 'PATCH',
  path: '/v1/tickets/{id}',
  scope: 'write:conversations',
  audit: 'none',
  params: z.object({ id: TicketId }),
  body: UpdateTicket,
  success: { status: 200, data: Ticket },
} as const satisfies Route;

export const createVisitorToken = {
  name: 'create-visitor-token',
  method: 'POST',
  path: '/v1/conversations/{id}/visitor-token',
  scope: 'write:conversations',
  idempotency: 'honoured',
  audit: 'none',
  params: ConversationParams,
  success: { status: 201, data: VisitorToken },
  refusals: ['CONFLICT', 'GONE'],
} as const satisfies Route;

export const readWidgetMessages = {
  name: 'read-widget-messages',
  method: 'GET',
  path: '/v1/widget/messages',
  visitor: true,
  query: PageQuery,
  success: { status: 200, followed: true, data: z.array(WidgetMessage) },
} as const satisfies Route;

export const createWidgetMessage = {
  name: 'create-widget-message',
  method: 'POST',
  path: '/v1/widget/messages',
  visitor: true,
  idempotency: 'honoured',
  audit: 'none',
  body: CreateWidgetMessage,
  success: { status: 201, data: WidgetMessage },
  refusals: ['NOT_FOUND'],
} as const satisfies Route;
