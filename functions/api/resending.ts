import { type Delivery, toDeliveryMessage } from '../delivery/delivery.ts';
import { createRedelivery, isForStill, recordRedelivery } from '../delivery/redelivery.ts';
import { HISTORY_DAYS } from '../events/events.ts';
import { retryOnConflict } from '../http/api.ts';
import { isProblem, refusals } from '../http/problem.ts';
import { success } from '../http/reply.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import { findDelivery, withDueTime } from './deliveries.ts';
import type { resendRoute } from './receiver-routes.ts';
import { buildReceiverPath, getInactiveRefusals, nameReceiver } from './receivers.ts';
import { routeHandler, tables } from './route-handler.ts';
import { deliveries, outbox } from './stores.ts';

/*
 * Resending of one delivery, to a webhook endpoint or a channel.
 */

/**
 * Makes the next attempt due now and sends a message for it, in one transaction. The delivery's own message
 * becomes an extra one, which changes nothing.
 */
export const retryHandler = (route: ReturnType<typeof resendRoute<string, 'retry'>>) =>
  routeHandler(route, ({ tenant, params, now, effect }) =>
    retryOnConflict(async (again) => {
      const result = await findDelivery(tenant, params);
      if (isProblem(result)) return result;
      const { delivery, receiver } = result;
      const refusal = findRefusal(delivery, receiver, now);
      if (refusal !== undefined) return refusal;
      const isLimited = receiver.maxPerSecond !== undefined;
      const start = isLimited ? 'at its turn under the limit of the endpoint' : 'in a moment';
      return effect(
        success(nameReceiver({ ...delivery, nextRetryAt: now.toISOString() })),
        [
          deliveries.buildRetry(delivery, now),
          outbox.appendRedelivery(toDeliveryMessage(delivery), delivery.attempts),
        ],
        { 'delivery-changed': again, exists: refusals.attemptRequested(start) },
      );
    }),
  );

function findRefusal(delivery: Delivery, receiver: Endpoint, now: Date) {
  const { status, lease } = delivery;
  if (status === 'pending') return refusals.firstAttemptRunning;
  if (status !== 'retrying') return refusals.endedDelivery(status);
  if (receiver.status !== 'active') return getInactiveRefusals(receiver.id)[receiver.status];
  if (!isForStill(delivery, receiver)) return refusals.notSubscribed;
  if (lease !== undefined && lease.until > now.getTime()) return refusals.attemptRunning;
  return undefined;
}

/**
 * Adds the new delivery, the work item that sends its message, and the record by which redelivery jobs pass
 * over the event, in one transaction. Concurrent changes do no harm: a terminal delivery does not change, and
 * a delivery to a deleted receiver is skipped.
 */
export const redeliverHandler = (route: ReturnType<typeof resendRoute<string, 'redeliver'>>) =>
  routeHandler(route, async ({ tenant, params, now, traceId, effect }) => {
    const result = await findDelivery(tenant, params);
    if (isProblem(result)) return result;
    const { receiver } = result;
    const redelivery = createRedelivery(result.delivery, receiver, now, traceId);
    if (redelivery.kind === 'refused') {
      const refused = {
        'still-open': refusals.openDelivery,
        ...getInactiveRefusals(receiver.id),
        'not-subscribed': refusals.notSubscribed,
        erased: refusals.erasedEvent,
        'event-expired': refusals.expiredEvent(HISTORY_DAYS),
      };
      return refused[redelivery.why];
    }
    const { delivery } = redelivery;
    const location = buildReceiverPath(receiver.id, `deliveries/${delivery.id}`);
    return effect(success(nameReceiver(withDueTime(delivery, now)), { location }), [
      deliveries.adding(delivery),
      outbox.appendRedelivery(toDeliveryMessage(delivery)),
      recordRedelivery(tables.service, delivery),
    ]);
  });
