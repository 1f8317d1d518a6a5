import { success } from '../../platform/reply.ts';
import { deliveryOf, withAttempts } from '../deliveries.ts';
import { endpoint } from '../endpoint.ts';
import * as routes from './routes.ts';

export const handler = endpoint(routes.readDelivery, async ({ tenant, params }) => {
  const found = await deliveryOf(tenant, params);
  return 'kind' in found ? found : success(withAttempts(found.delivery));
});
