import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { toChannelView } from '../../receivers/channels.ts';
import { routeHandler } from '../route-handler.ts';
import { channels } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = routeHandler(routes.readChannel, async ({ tenant, params }) => {
  const channel = await channels.find(tenant.orgId, params.id);
  return channel ? success(toChannelView(channel)) : refusals.notFound('channel');
});
