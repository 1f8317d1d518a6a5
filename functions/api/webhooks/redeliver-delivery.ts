import { toDeliveryMessage } from '../../delivery/delivery.ts';
import { createRedelivery, recordRedelivery } from '../../delivery/redelivery.ts';
import { HISTORY_DAYS } from '../../events/events.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { findEndpointDelivery, withDueTime } from '../deliveries.ts';
import { routeHandler, tables } from '../route-handler.ts';
import { deliveries, outbox } from '../stores.ts';
import * as routes from './routes.ts';

/**
 * Adds the new delivery, the work item that sends its message, and the record by which redelivery jobs pass
 * over the event, in one transaction. Concurrent changes do no harm: a terminal delivery does not change, and
 * a delivery to a deleted endpoint is skipped.
 */
export const handler = routeHandler(
  routes.redeliverDelivery,
  async ({ tenant, params, now, traceId, effect }) => {
    const result = await findEndpointDelivery(tenant, params);
    if ('kind' in result) return result;
    const redelivery = createRedelivery(result.delivery, result.endpoint, now, traceId);
    if (redelivery.kind === 'refused') return REFUSALS[redelivery.why];
    const { delivery } = redelivery;
    const location = `/api/v1/webhooks/${delivery.webhookId}/deliveries/${delivery.id}`;
    return effect(success(withDueTime(delivery, now), { location }), [
      deliveries.adding(delivery),
      outbox.appendRedelivery(toDeliveryMessage(delivery)),
      recordRedelivery(tables.service, delivery),
    ]);
  },
);

const REFUSALS = {
  'still-open': refusals.openDelivery,
  ...refusals.inactiveEndpoint,
  'not-subscribed': refusals.notSubscribed,
  erased: refusals.erasedEvent,
  'event-expired': refusals.expiredEvent(HISTORY_DAYS),
};
