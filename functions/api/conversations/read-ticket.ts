import { ticketStore } from '../../conversations/conversations.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const tickets = ticketStore(tables.service);

export const handler = routeHandler(routes.readTicket, async ({ tenant, params }) => {
  const found = await tickets.find(tenant, params.id);
  return found ? success(found) : refusals.notFound('ticket');
});
