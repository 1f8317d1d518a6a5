import { success } from '../../platform/reply.ts';
import { endpoint } from '../endpoint.ts';
import { deliveryOf, inOrder } from './deliveries.ts';
import * as routes from './routes.ts';

export const handler = endpoint(routes.readDelivery, async ({ tenant, params }) => {
  const found = await deliveryOf(tenant, params);
  if ('kind' in found) return found;
  const { delivery } = found;
  const attemptLog = delivery.attemptLog.map(({ request, ...attempt }) => ({
    ...attempt,
    ...(request && { request: inOrder(request) }),
  }));
  return success({ ...delivery, attemptLog });
});
