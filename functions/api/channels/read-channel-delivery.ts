import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { findDelivery, toDeliveryView } from '../deliveries.ts';
import { routeHandler } from '../route-handler.ts';
import { channels } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = routeHandler(routes.readChannelDelivery, async ({ tenant, params, now }) => {
  const found = await channels.find(tenant.orgId, params.id);
  if (!found) return refusals.notFound('channel');
  const delivery = await findDelivery(found, tenant, params.deliveryId);
  return 'kind' in delivery ? delivery : success({ ...toDeliveryView(delivery, now), channelId: found.id });
});
