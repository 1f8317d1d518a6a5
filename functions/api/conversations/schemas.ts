import * as z from 'zod/mini';
import { ConversationId, EscalationId, MessageId, Timestamp } from '../../aws/ids.ts';
import { ConversationStatus, MessageRole } from '../../conversations/conversation.ts';
import { orNull, text } from '../fields.ts';

export const CreateConversation = z.strictObject({ channelId: text(200), externalUserId: text(200) });
export const Conversation = z.object({
  id: ConversationId,
  channelId: z.string(),
  externalUserId: z.string(),
  status: ConversationStatus,
  resolvedAt: orNull(Timestamp),
  resolvedBy: orNull(z.string()),
  createdAt: Timestamp,
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
export const CreateMessage = z.strictObject({ role: MessageRole, content: text(100_000) });
export const Message = z.object({
  id: MessageId,
  conversationId: ConversationId,
  role: MessageRole,
  content: z.string(),
  createdAt: Timestamp,
});

export const ConversationParams = z.object({ id: ConversationId });
export const MessageParams = z.object({ id: ConversationId, messageId: MessageId });
export const EscalationParams = z.object({ id: ConversationId, escalationLogId: EscalationId });
