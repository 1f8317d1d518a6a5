import * as tickets from '../../../functions/api/tickets/schemas.ts';
import * as examples from '../example-values.ts';
import { CREATED, described, type OperationText } from '../operation-text.ts';

export const operations = {
  createTicket: {
    tag: 'Tickets',
    atMost: { reads: 5, writes: 35 },
    description: `Creates a fallback ticket, with or without the conversation it comes out of. Sends \`ticket.created\`. The conversation stays
as it is. A conversation that does not exist is refused with \`NOT_FOUND\`. The body may be left out.`,
    body: { conversationId: examples.conversation.id, reason: examples.ticket.reason },
    answer: 'The ticket.',
    data: examples.ticket,
    location: `/api/v1/tickets/${examples.ticket.id}`,
  },
  listTickets: {
    tag: 'Tickets',
    atMost: { reads: 130, writes: 4 },
    description: 'The organization’s tickets, newest first.',
    answer: 'A page of tickets.',
    data: [examples.ticket],
  },
  readTicket: {
    tag: 'Tickets',
    atMost: { reads: 5, writes: 3 },
    description: 'One ticket, for example the one that a `ticket.created` event names.',
    answer: 'The ticket.',
    data: examples.ticket,
  },
} as const satisfies Record<string, OperationText>;

/** The schemas of answers. */
export const answers = {
  Ticket: described(tickets.Ticket, {
    id: 'Identifies the ticket.',
    conversationId: 'The conversation it came out of, if any.',
    reason: 'What it is about, if that was said.',
    createdAt: CREATED,
  }),
};

/** The schemas of requests. */
export const bodies = {
  CreateTicket: described(tickets.CreateTicket, {
    conversationId: 'The conversation it comes out of. It must exist.',
    reason: 'What it is about. The event carries it.',
  }),
};
