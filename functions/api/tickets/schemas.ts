import * as z from 'zod/mini';
import { ConversationId, TicketId, Timestamp } from '../../aws/ids.ts';
import { orNull, text } from '../fields.ts';

export const CreateTicket = z._default(
  z.strictObject({ conversationId: z.optional(ConversationId), reason: z.optional(text(1000)) }),
  {},
);
export const Ticket = z.object({
  id: TicketId,
  conversationId: orNull(ConversationId),
  reason: orNull(z.string()),
  createdAt: Timestamp,
});

export const TicketParams = z.object({ id: TicketId });
