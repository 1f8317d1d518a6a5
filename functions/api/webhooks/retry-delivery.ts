import { type Delivery, toDeliveryMessage } from '../../delivery/delivery.ts';
import { outboxStore } from '../../delivery/outbox.ts';
import { isForStill } from '../../delivery/redelivery.ts';
import { type Problem, problem } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { retryOnConflict } from '../../http/request.ts';
import type { Endpoint } from '../../receivers/endpoint.ts';
import { deliveries, findEndpointDelivery, NOT_SUBSCRIBED } from '../deliveries.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const outbox = outboxStore(tables.outbox);

/**
 * Makes the next attempt due now and sends a message for it, in one transaction. The delivery's own message
 * becomes an extra one, which changes nothing.
 */
export const handler = routeHandler(routes.retryDelivery, ({ tenant, params, now, effect }) =>
  retryOnConflict(async (again) => {
    const found = await findEndpointDelivery(tenant, params);
    if ('kind' in found) return found;
    const { delivery, endpoint } = found;
    const refusal = findRefusal(delivery, endpoint, now);
    if (refusal !== undefined) return refusal;
    return effect(
      success({ ...delivery, nextRetryAt: now.toISOString() }),
      [
        deliveries.buildRetry(delivery, now),
        outbox.appendRedelivery(toDeliveryMessage(delivery), delivery.attempts),
      ],
      { 'delivery-changed': again, exists: problem('CONFLICT', describeRequested(endpoint)) },
    );
  }),
);

const describeRequested = ({ maxPerSecond }: Pick<Endpoint, 'maxPerSecond'>): string =>
  `The next attempt was already requested and starts ${maxPerSecond === undefined ? 'in a moment' : 'at its turn under the limit of the endpoint'}.`;

function findRefusal(
  delivery: Delivery,
  endpoint: Pick<Endpoint, 'id' | 'status' | 'events'>,
  now: Date,
): Problem | undefined {
  const { status, lease } = delivery;
  if (status === 'pending') return problem('CONFLICT', 'The first attempt of the delivery is in progress.');
  if (status !== 'retrying')
    return problem('CONFLICT', `The delivery is ${status}. To resend its event, use redeliver.`);
  if (endpoint.status === 'auto_disabled')
    return problem('CONFLICT', 'The webhook endpoint is disabled. Register it again as a new endpoint.');
  if (!isForStill(delivery, endpoint)) return problem('CONFLICT', NOT_SUBSCRIBED);
  if (lease !== undefined && lease.until > now.getTime())
    return problem('CONFLICT', 'An attempt of the delivery is in progress.');
  return undefined;
}
