import { success } from '../../http/reply.ts';
import { findEndpointDelivery, toDeliveryView } from '../deliveries.ts';
import { routeHandler } from '../route-handler.ts';
import * as routes from './routes.ts';

export const handler = routeHandler(routes.readDelivery, async ({ tenant, params, now }) => {
  const found = await findEndpointDelivery(tenant, params);
  return 'kind' in found ? found : success(toDeliveryView(found.delivery, now));
});
