import { conversationStore, messageStore } from '../../conversations/conversations.ts';
import { refusals } from '../../http/problem.ts';
import { paginate } from '../pages.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const conversations = conversationStore(tables.service);
const messages = messageStore(tables.service);

export const handler = routeHandler(routes.listMessages, (request) =>
  paginate(routes.listMessages, request, async (page) => {
    const { tenant, params } = request;
    const found = await conversations.find(tenant, params.id);
    return found ? messages.list(tenant, found.id, page) : refusals.notFound('conversation');
  }),
);
