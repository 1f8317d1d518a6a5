import { notFound } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { conversationStore } from '../../store/conversations.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const conversations = conversationStore(tables.service);

export const handler = routeHandler(routes.readConversation, async ({ tenant, params }) => {
  const found = await conversations.find(tenant, params.id);
  return found ? success(found) : notFound('conversation');
});
