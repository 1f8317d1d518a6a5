import { refusals } from '../../http/problem.ts';
import { listHandler } from '../pages.ts';
import { conversations, messages } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = listHandler(
  routes.listMessages,
  async ({ tenant, params, query: { order } }, page) => {
    const conversation = await conversations.find(tenant, params.id);
    if (!conversation) return refusals.notFound('conversation');
    return messages.list(tenant, conversation.id, page, order === 'asc' ? 'oldest first' : 'newest first');
  },
  ({ order = 'desc' }) => [order],
);
