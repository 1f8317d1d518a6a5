import * as z from 'zod/mini';
import { ConversationId, MessageId, Timestamp } from '../../aws/ids.ts';

export const ConversationParams = z.object({ id: ConversationId });

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
