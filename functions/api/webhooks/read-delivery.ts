import { success } from '../../http/reply.ts';
import { findEndpointDelivery, toDeliveryView } from '../deliveries.ts';
import { routeHandler } from '../route-handler.ts';
import * as routes from './routes.ts';

export const handler = routeHandler(routes.readDelivery, async ({ tenant, params, now }) => {
  const result = await findEndpointDelivery(tenant, params);
  return 'kind' in result ? result : success(toDeliveryView(result.delivery, now));
});
