import { listHandler } from '../pages.ts';
import { tickets } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = listHandler(routes.listTickets, ({ tenant }, page) => tickets.list(tenant, page));
