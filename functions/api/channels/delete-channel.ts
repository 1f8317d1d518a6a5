import { success } from '../../http/reply.ts';
import { compareFields } from '../../tenancy/audit.ts';
import { routeHandler } from '../route-handler.ts';
import { channels } from '../stores.ts';
import * as routes from './routes.ts';

const done = success(undefined);

/** Deleting a deleted channel succeeds, so that retries are safe. */
export const handler = routeHandler(routes.deleteChannel, async ({ tenant, params: { id }, effect }) => {
  const channel = await channels.findToChange(tenant.orgId, id);
  if (channel === undefined) return done;
  return effect(
    done,
    channels.remove(tenant.orgId, id),
    { id, changes: compareFields(routes.CHANNEL_SETTINGS, channel, undefined) },
    { 'channel-missing': async () => done },
  );
});
