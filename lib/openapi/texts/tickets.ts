import * as cast from '../cast.ts';
import type { OperationText } from '../operation-text.ts';

export const TICKET_TEXTS = {
  createTicket: {
    tag: 'Tickets',
    description: `Creates a fallback ticket, with or without the conversation it comes out of. Sends \`ticket.created\`. The conversation stays
as it is. A conversation that does not exist is refused with \`NOT_FOUND\`. The body may be left out.`,
    body: { conversationId: cast.conversation.id, reason: cast.ticket.reason },
    answer: 'The ticket.',
    data: cast.ticket,
    location: `/api/v1/tickets/${cast.ticket.id}`,
  },
  listTickets: {
    tag: 'Tickets',
    description: 'The organization’s tickets, newest first.',
    answer: 'A page of tickets.',
    data: [cast.ticket],
  },
  readTicket: {
    tag: 'Tickets',
    description: 'One ticket, for example the one that a `ticket.created` event names.',
    answer: 'The ticket.',
    data: cast.ticket,
  },
} as const satisfies Record<string, OperationText>;
