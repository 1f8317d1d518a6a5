import { listHandler } from '../pages.ts';
import { conversations } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = listHandler(routes.listConversations, ({ tenant }, page) =>
  conversations.list(tenant, page),
);
