import * as z from 'zod/mini';
import { ConversationId, MessageId } from '../../domain/ids.ts';
import { clamped, orNull, timestamp } from '../fields.ts';

/*
 * Shapes of the public API for web widgets (decisions 0012, Channels). A schema of an answer builds it: a
 * field that it does not name never leaves the service.
 */

export const ConversationParams = z.object({ id: ConversationId });

/** Only this answer has the token. */
export const VisitorToken = z.object({ token: z.string(), expiresAt: timestamp });

/** What the service itself notes in a conversation is not for visitors. */
export const VisibleRole = z.enum(['user', 'assistant', 'agent']);
export const WidgetMessage = z.object({
  id: MessageId,
  role: VisibleRole,
  content: z.string(),
  createdAt: timestamp,
});
export const WidgetMessages = z.object({ messages: z.array(WidgetMessage), after: orNull(MessageId) });

export const WidgetMessagesQuery = z.object({
  after: z.optional(MessageId),
  limit: clamped({ least: 1, most: 100, standard: 50 }),
});
