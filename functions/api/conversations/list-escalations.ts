import { conversationStore, escalationStore } from '../../conversations/conversations.ts';
import { refusals } from '../../http/problem.ts';
import { paginate } from '../pages.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const conversations = conversationStore(tables.service);
const escalations = escalationStore(tables.service);

export const handler = routeHandler(routes.listEscalations, (request) =>
  paginate(routes.listEscalations, request, async (page) => {
    const { tenant, params } = request;
    const found = await conversations.find(tenant, params.id);
    return found ? escalations.list(tenant, found.id, page) : refusals.notFound('conversation');
  }),
);
