import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { routeHandler } from '../route-handler.ts';
import { conversations } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = routeHandler(routes.readConversation, async ({ tenant, params }) => {
  const conversation = await conversations.find(tenant, params.id);
  return conversation ? success(conversation) : refusals.notFound('conversation');
});
