import { toChannelView } from '../../domain/channel.ts';
import { notFound } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { channelStore } from '../../store/channels.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const channels = channelStore(tables.service);

export const handler = routeHandler(routes.readChannel, async ({ tenant, params }) => {
  const found = await channels.find(tenant.orgId, params.id);
  return found ? success(toChannelView(found)) : notFound('channel');
});
