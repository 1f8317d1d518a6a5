import * as z from 'zod/mini';
import { MessageRole } from './events.ts';
import { ConversationId, EscalationId, MessageId, TicketId } from './ids.ts';

export const ConversationStatus = z.enum(['open', 'handed_off', 'resolved']);

export const Conversation = z.object({
  id: ConversationId,
  channelId: z.string(),
  externalUserId: z.string(),
  status: ConversationStatus,
  createdAt: z.iso.datetime(),
  /** Only while it is resolved. */
  resolvedAt: z.optional(z.iso.datetime()),
  resolvedBy: z.optional(z.string()),
});
export type Conversation = z.infer<typeof Conversation>;

export const Message = z.object({
  id: MessageId,
  conversationId: ConversationId,
  role: MessageRole,
  content: z.string(),
  createdAt: z.iso.datetime(),
});
export type Message = z.infer<typeof Message>;

/** One handing over of a conversation to a human. */
export const Escalation = z.object({
  id: EscalationId,
  conversationId: ConversationId,
  reason: z.optional(z.string()),
  createdAt: z.iso.datetime(),
});
export type Escalation = z.infer<typeof Escalation>;

/** A fallback ticket: what is left for people to follow up, with or without a conversation. */
export const Ticket = z.object({
  id: TicketId,
  conversationId: z.optional(ConversationId),
  reason: z.optional(z.string()),
  createdAt: z.iso.datetime(),
});
export type Ticket = z.infer<typeof Ticket>;
