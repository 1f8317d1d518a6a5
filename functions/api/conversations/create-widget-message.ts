import { success } from '../../http/reply.ts';
import { recordMessage } from '../messages.ts';
import { routeHandler } from '../route-handler.ts';
import { conversations } from '../stores.ts';
import { authenticate, limiter } from '../visitors.ts';
import * as routes from './routes.ts';

/** In a sandbox too: the response has only what the visitor sent. */
export const handler = routeHandler(
  routes.createWidgetMessage,
  (request) => {
    const { tenant, conversationId, body } = request;
    const find = () => conversations.find(tenant, conversationId);
    return recordMessage(request, find, { ...body, role: 'user' }, (message) => success(message));
  },
  { authenticate, limiter },
);
