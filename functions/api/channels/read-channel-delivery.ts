import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { findDelivery, toDeliveryView } from '../deliveries.ts';
import { routeHandler } from '../route-handler.ts';
import { channels } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = routeHandler(routes.readChannelDelivery, async ({ tenant, params, now }) => {
  const channel = await channels.find(tenant.orgId, params.id);
  if (!channel) return refusals.notFound('channel');
  const delivery = await findDelivery(channel, tenant, params.deliveryId);
  return 'kind' in delivery ? delivery : success({ ...toDeliveryView(delivery, now), channelId: channel.id });
});
