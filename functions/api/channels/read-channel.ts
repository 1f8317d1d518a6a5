import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { channelStore, toChannelView } from '../../receivers/channels.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const channels = channelStore(tables.service);

export const handler = routeHandler(routes.readChannel, async ({ tenant, params }) => {
  const found = await channels.find(tenant.orgId, params.id);
  return found ? success(toChannelView(found)) : refusals.notFound('channel');
});
