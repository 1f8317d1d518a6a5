import { conversationStore } from '../../store/conversations.ts';
import { endpoint, tables } from '../endpoint.ts';
import { paginated } from '../pages.ts';
import * as routes from './routes.ts';

const conversations = conversationStore(tables.service);

export const handler = endpoint(routes.listConversations, (request) =>
  paginated(routes.listConversations, request, (page) => conversations.list(request.tenant, page)),
);
