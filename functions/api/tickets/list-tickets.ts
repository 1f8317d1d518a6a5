import { ticketStore } from '../../store/tickets.ts';
import { endpoint, tables } from '../endpoint.ts';
import { paginated } from '../pages.ts';
import * as routes from './routes.ts';

const tickets = ticketStore(tables.service);

export const handler = endpoint(routes.listTickets, (request) =>
  paginated(routes.listTickets, request, (page) => tickets.list(request.tenant, page)),
);
