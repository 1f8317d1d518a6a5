import { conversationStore } from '../../store/conversations.ts';
import { paginated } from '../pages.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const conversations = conversationStore(tables.service);

export const handler = routeHandler(routes.listConversations, (request) =>
  paginated(routes.listConversations, request, (page) => conversations.list(request.tenant, page)),
);
