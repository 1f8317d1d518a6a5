import { type Delivery, toDeliveryMessage } from '../../delivery/delivery.ts';
import { isForStill } from '../../delivery/redelivery.ts';
import { retryOnConflict } from '../../http/api.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import type { Endpoint } from '../../receivers/endpoint.ts';
import { findEndpointDelivery } from '../deliveries.ts';
import { routeHandler } from '../route-handler.ts';
import { deliveries, outbox } from '../stores.ts';
import * as routes from './routes.ts';

/**
 * Makes the next attempt due now and sends a message for it, in one transaction. The delivery's own message
 * becomes an extra one, which changes nothing.
 */
export const handler = routeHandler(routes.retryDelivery, ({ tenant, params, now, effect }) =>
  retryOnConflict(async (again) => {
    const result = await findEndpointDelivery(tenant, params);
    if ('kind' in result) return result;
    const { delivery, endpoint } = result;
    const refusal = findRefusal(delivery, endpoint, now);
    if (refusal !== undefined) return refusal;
    const isLimited = endpoint.maxPerSecond !== undefined;
    const start = isLimited ? 'at its turn under the limit of the endpoint' : 'in a moment';
    return effect(
      success({ ...delivery, nextRetryAt: now.toISOString() }),
      [
        deliveries.buildRetry(delivery, now),
        outbox.appendRedelivery(toDeliveryMessage(delivery), delivery.attempts),
      ],
      { 'delivery-changed': again, exists: refusals.attemptRequested(start) },
    );
  }),
);

function findRefusal(delivery: Delivery, endpoint: Endpoint, now: Date) {
  const { status, lease } = delivery;
  if (status === 'pending') return refusals.firstAttemptRunning;
  if (status !== 'retrying') return refusals.endedDelivery(status);
  if (endpoint.status !== 'active') return refusals.inactiveEndpoint[endpoint.status];
  if (!isForStill(delivery, endpoint)) return refusals.notSubscribed;
  if (lease !== undefined && lease.until > now.getTime()) return refusals.attemptRunning;
  return undefined;
}
