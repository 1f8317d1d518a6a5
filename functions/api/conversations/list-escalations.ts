import { refusals } from '../../http/problem.ts';
import { listHandler } from '../pages.ts';
import { conversations, escalations } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = listHandler(routes.listEscalations, async ({ tenant, params }, page) => {
  const conversation = await conversations.find(tenant, params.id);
  return conversation ? escalations.list(tenant, conversation.id, page) : refusals.notFound('conversation');
});
