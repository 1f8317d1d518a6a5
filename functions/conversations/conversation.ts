import * as z from 'zod/mini';
import { ConversationId, EscalationId, MessageId, TicketId, Timestamp } from '../aws/ids.ts';

export const MessageRole = z.enum(['user', 'assistant', 'agent', 'system']);
/** Roles whose messages a channel shows. */
export const ChannelMessageRole = z.enum(['assistant', 'agent']);

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
export const STATE_CHANGES = {
  'hand-off': { from: ['open'], to: 'handed_off' },
  resolve: { from: ['open', 'handed_off'], to: 'resolved' },
  reopen: { from: ['resolved'], to: 'open' },
} as const satisfies Record<
  StateChange['kind'],
  { from: readonly ConversationStatus[]; to: ConversationStatus }
>;

/** Returns the changed conversation; undefined when its state forbids the change. */
export function applyStateChange(conversation: Conversation, change: StateChange): Conversation | undefined {
  const { from, to }: { from: readonly ConversationStatus[]; to: ConversationStatus } =
    STATE_CHANGES[change.kind];
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
