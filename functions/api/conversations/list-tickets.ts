import { ticketStore } from '../../conversations/conversations.ts';
import { paginate } from '../pages.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const tickets = ticketStore(tables.service);

export const handler = routeHandler(routes.listTickets, (request) =>
  paginate(routes.listTickets, request, (page) => tickets.list(request.tenant, page)),
);
