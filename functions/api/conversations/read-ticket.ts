import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { routeHandler } from '../route-handler.ts';
import { tickets } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = routeHandler(routes.readTicket, async ({ tenant, params }) => {
  const ticket = await tickets.find(tenant, params.id);
  return ticket ? success(ticket) : refusals.notFound('ticket');
});
