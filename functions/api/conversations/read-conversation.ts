import { notFound } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { conversationStore } from '../../store/conversations.ts';
import { endpoint, tables } from '../endpoint.ts';
import * as routes from './routes.ts';

const conversations = conversationStore(tables.service);

export const handler = endpoint(routes.readConversation, async ({ tenant, params }) => {
  const found = await conversations.find(tenant, params.id);
  return found ? success(found) : notFound('conversation');
});
