import { conversationStore } from '../../conversations/conversations.ts';
import { paginate } from '../pages.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const conversations = conversationStore(tables.service);

export const handler = routeHandler(routes.listConversations, (request) =>
  paginate(routes.listConversations, request, (page) => conversations.list(request.tenant, page)),
);
