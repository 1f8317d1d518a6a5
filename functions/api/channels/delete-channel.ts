import { success } from '../../platform/reply.ts';
import { channelStore } from '../../store/channels.ts';
import { commit, routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const channels = channelStore(tables.service);

/** A channel that is already gone is deleted as well, so that retries are safe, as with webhook endpoints. */
export const handler = routeHandler(routes.deleteChannel, async ({ tenant, params }) => {
  await commit(channels.remove(tenant.orgId, params.id));
  return success(undefined);
});
