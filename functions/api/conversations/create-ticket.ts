import { newId } from '../../aws/ids.ts';
import type { Ticket } from '../../conversations/conversations.ts';
import { buildEvent } from '../../events/events.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { routeHandler } from '../route-handler.ts';
import { conversations, outbox, tickets } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = routeHandler(
  routes.createTicket,
  async ({ tenant, body, now, traceId, kept, effect }) => {
    const { conversationId } = body;
    if (conversationId !== undefined && !(await conversations.find(tenant, conversationId)))
      return refusals.notFound('conversation');
    const ticket: Ticket = { id: newId('tkt', now), ...body, status: 'open', createdAt: now.toISOString() };
    const event = buildEvent('ticket.created', { ...ticket, ticketId: ticket.id }, { tenant, now, traceId });
    return effect(success(ticket, { location: `/api/v1/tickets/${ticket.id}` }), [
      ...tickets.add(tenant, ticket, kept),
      outbox.append(event),
    ]);
  },
);
