import type { Ticket } from '../../domain/conversation.ts';
import { buildEvent } from '../../domain/events.ts';
import { newId } from '../../domain/ids.ts';
import { notFound } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { conversationStore, ticketStore } from '../../store/conversations.ts';
import { outboxStore } from '../../store/outbox.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const conversations = conversationStore(tables.service);
const tickets = ticketStore(tables.service);
const outbox = outboxStore(tables.outbox);

/** Reads the conversation before the transaction; single conversations are never deleted. */
export const handler = routeHandler(routes.createTicket, async ({ tenant, body, now, traceId, effect }) => {
  const { conversationId, reason } = body;
  if (conversationId !== undefined && !(await conversations.find(tenant, conversationId)))
    return notFound('conversation');
  const ticket: Ticket = { id: newId('tkt', now), conversationId, reason, createdAt: now.toISOString() };
  const event = buildEvent('ticket.created', { ...ticket, ticketId: ticket.id }, { tenant, now, traceId });
  return effect(success(ticket, { location: `/api/v1/tickets/${ticket.id}` }), [
    tickets.add(tenant, ticket),
    outbox.append(event),
  ]);
});
