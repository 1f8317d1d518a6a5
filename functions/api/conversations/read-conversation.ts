import { conversationStore } from '../../conversations/conversations.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const conversations = conversationStore(tables.service);

export const handler = routeHandler(routes.readConversation, async ({ tenant, params }) => {
  const found = await conversations.find(tenant, params.id);
  return found ? success(found) : refusals.notFound('conversation');
});
