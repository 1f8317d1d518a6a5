import * as tickets from '../../../functions/api/conversations/routes.ts';
import * as examples from '../example-values.ts';
import {
  CREATED,
  described,
  METADATA_CHANGED,
  METADATA_GIVEN,
  METADATA_SHOWN,
  type OperationText,
} from '../operation-text.ts';

/** @public the catalogue of events picks it */
export const ticket = {
  ...examples.created('tkt', '2026-11-20T09:36:20.641Z'),
  conversationId: examples.conversation.id,
  reason: 'No agent is available before Monday',
  status: 'open',
  metadata: {},
} as const;

export const operations = {
  createTicket: {
    tag: 'Tickets',
    summary: 'Create a fallback ticket',
    mostTokens: 11,
    description: `Creates a fallback ticket, optionally for a conversation, which does not change. Sends
\`ticket.created\`. Fails with \`NOT_FOUND\` if the conversation does not exist. A retry with an
\`Idempotency-Key\` after the conversation was erased fails with \`GONE\`. The body is optional.`,
    body: { conversationId: examples.conversation.id, reason: ticket.reason },
    answer: 'The ticket.',
    data: ticket,
    location: `/api/v1/tickets/${ticket.id}`,
  },
  listTickets: {
    tag: 'Tickets',
    summary: 'List tickets',
    mostTokens: 11,
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
  updateTicket: {
    tag: 'Tickets',
    summary: 'Update a ticket',
    mostTokens: 6,
    description: `Closes a ticket, opens it again, or changes its metadata. Omitted fields keep their values. \`metadata\`
replaces all entries; \`{}\` removes them. Sends no event.`,
    body: { status: 'closed' },
    answer: 'The ticket.',
    data: { ...ticket, status: 'closed' },
  },
} as const satisfies Record<string, OperationText>;

/** The schemas of answers. */
export const answers = {
  Ticket: described(tickets.Ticket, {
    id: 'Identifier of the ticket.',
    conversationId: 'The conversation; null if there is none.',
    reason: 'Why the ticket was created; null if no reason was given.',
    status: '`open`, or `closed` by `updateTicket`.',
    metadata: METADATA_SHOWN,
    createdAt: CREATED,
  }),
};

/** The schemas of requests. */
export const bodies = {
  CreateTicket: described(tickets.CreateTicket, {
    conversationId: 'An existing conversation.',
    reason: 'Why the ticket is created; included in the event.',
    metadata: METADATA_GIVEN,
  }),
  UpdateTicket: described(tickets.UpdateTicket, {
    status: '`closed` closes the ticket, `open` opens it again; omit to keep it.',
    metadata: METADATA_CHANGED,
  }),
};
