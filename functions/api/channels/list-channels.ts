import { channelStore, toChannelView } from '../../receivers/channels.ts';
import { paginate } from '../pages.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const channels = channelStore(tables.service);

export const handler = routeHandler(routes.listChannels, (request) =>
  paginate(routes.listChannels, request, async (page) => {
    const { items, ...rest } = await channels.list(request.tenant.orgId, page);
    return { ...rest, items: items.map(toChannelView) };
  }),
);
