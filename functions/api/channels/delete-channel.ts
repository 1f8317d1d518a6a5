import { success } from '../../platform/reply.ts';
import { channelStore } from '../../store/channels.ts';
import { commit, routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const channels = channelStore(tables.service);

/** Deleting a deleted channel succeeds, so that retries are safe. */
export const handler = routeHandler(routes.deleteChannel, async ({ tenant, params }) => {
  await commit(channels.remove(tenant.orgId, params.id));
  return success(undefined);
});
