import { notFound } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { messageStore } from '../../store/conversations.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const messages = messageStore(tables.service);

/** The key contains organization and conversation, so one read checks all three. */
export const handler = routeHandler(routes.readMessage, async ({ tenant, params }) => {
  const found = await messages.find(tenant, params.id, params.messageId);
  return found ? success(found) : notFound('message');
});
