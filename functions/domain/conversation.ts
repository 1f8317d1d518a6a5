import * as z from 'zod/mini';
import { MessageRole } from './events.ts';
import { ConversationId, MessageId } from './ids.ts';

export const ConversationStatus = z.enum(['open', 'handed_off', 'resolved']);

export const Conversation = z.object({
  id: ConversationId,
  channelId: z.string(),
  externalUserId: z.string(),
  status: ConversationStatus,
  createdAt: z.iso.datetime(),
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
