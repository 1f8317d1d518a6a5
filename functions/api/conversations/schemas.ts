import * as z from 'zod/mini';
import { ConversationStatus, MessageRole } from '../../domain/conversation.ts';
import { ConversationId, EscalationId, MessageId } from '../../domain/ids.ts';
import { orNull, text, timestamp } from '../fields.ts';

/*
 * Shapes of the public API (public-api.md, Resources and their fields). A schema of an answer builds it: a
 * field that it does not name never leaves the service.
 */

export const CreateConversation = z.object({ channelId: text(200), externalUserId: text(200) });
export const Conversation = z.object({
  id: ConversationId,
  channelId: z.string(),
  externalUserId: z.string(),
  status: ConversationStatus,
  resolvedAt: orNull(timestamp),
  resolvedBy: orNull(z.string()),
  createdAt: timestamp,
});

/** Both may come without a body: everything in it is optional. */
export const RequestHandoff = z._default(z.object({ reason: z.optional(text(1000)) }), {});
export const ResolveConversation = z._default(z.object({ resolvedBy: z._default(text(200), 'api') }), {
  resolvedBy: 'api',
});

export const Escalation = z.object({
  id: EscalationId,
  conversationId: ConversationId,
  reason: orNull(z.string()),
  createdAt: timestamp,
});

/**
 * Beyond the body's limit of 256 KiB a message has one of its own, so that a row stays below DynamoDB's 400
 * KB.
 */
export const CreateMessage = z.object({ role: MessageRole, content: text(100_000) });
export const Message = z.object({
  id: MessageId,
  conversationId: ConversationId,
  role: MessageRole,
  content: z.string(),
  createdAt: timestamp,
});

export const ConversationParams = z.object({ id: ConversationId });
export const MessageParams = z.object({ id: ConversationId, messageId: MessageId });
export const EscalationParams = z.object({ id: ConversationId, escalationLogId: EscalationId });
