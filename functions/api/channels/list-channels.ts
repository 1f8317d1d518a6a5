import { toChannelView } from '../../receivers/channels.ts';
import { listHandler, mapPage } from '../pages.ts';
import { channels } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = listHandler(routes.listChannels, async ({ tenant }, page) =>
  mapPage(await channels.list(tenant.orgId, page), toChannelView),
);
