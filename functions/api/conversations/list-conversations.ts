import { listHandler } from '../pages.ts';
import { conversations } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = listHandler(
  routes.listConversations,
  ({ tenant, query }, page) => conversations.list(tenant, page, query),
  ({ externalUserId, channelId, status, updatedAfter, updatedBefore }) => [
    JSON.stringify([externalUserId, channelId, status, updatedAfter?.getTime(), updatedBefore?.getTime()]),
  ],
);
