import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { routeHandler } from '../route-handler.ts';
import { tickets } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = routeHandler(routes.updateTicket, async ({ tenant, params, body, effect }) => {
  const ticket = await tickets.find(tenant, params.id);
  if (!ticket) return refusals.notFound('ticket');
  if (Object.keys(body).length === 0) return success(ticket);
  return effect(success({ ...ticket, ...body }), [tickets.update(tenant, ticket.id, body)], {
    'ticket-missing': refusals.notFound('ticket'),
  });
});
