import * as tickets from '../../../functions/api/conversations/routes.ts';
import * as examples from '../example-values.ts';
import { CREATED, described, type OperationText } from '../operation-text.ts';

/** @public the catalogue of events picks it */
export const ticket = {
  ...examples.created('tkt', '2026-11-20T09:36:20.641Z'),
  conversationId: examples.conversation.id,
  reason: 'No agent is available before Monday',
} as const;

export const operations = {
  createTicket: {
    tag: 'Tickets',
    summary: 'Create a fallback ticket',
    mostTokens: 3,
    description: `Creates a fallback ticket, optionally for a conversation, which does not change. Sends
\`ticket.created\`. Fails with \`NOT_FOUND\` if the conversation does not exist. The body is optional.`,
    body: { conversationId: examples.conversation.id, reason: ticket.reason },
    answer: 'The ticket.',
    data: ticket,
    location: `/api/v1/tickets/${ticket.id}`,
  },
  listTickets: {
    tag: 'Tickets',
    summary: 'List tickets',
    mostTokens: 2,
    description: 'Returns the organization’s tickets, newest first.',
    answer: 'A page of tickets.',
    data: [ticket],
  },
  readTicket: {
    tag: 'Tickets',
    summary: 'Read a ticket',
    description: 'Returns a ticket, for example that of a `ticket.created` event.',
    answer: 'The ticket.',
    data: ticket,
  },
} as const satisfies Record<string, OperationText>;

/** The schemas of answers. */
export const answers = {
  Ticket: described(tickets.Ticket, {
    id: 'Identifier of the ticket.',
    conversationId: 'The conversation; null if there is none.',
    reason: 'Why the ticket was created; null if no reason was given.',
    createdAt: CREATED,
  }),
};

/** The schemas of requests. */
export const bodies = {
  CreateTicket: described(tickets.CreateTicket, {
    conversationId: 'An existing conversation.',
    reason: 'Why the ticket is created; included in the event.',
  }),
};
