import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { routeHandler } from '../route-handler.ts';
import { messages } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = routeHandler(routes.readMessage, async ({ tenant, params }) => {
  const message = await messages.find(tenant, params.id, params.messageId);
  return message ? success(message) : refusals.notFound('message');
});
