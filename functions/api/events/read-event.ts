import type { Delivery } from '../../domain/delivery.ts';
import type { Endpoint } from '../../domain/endpoint.ts';
import { type OutboxEvent, toEventView } from '../../domain/events.ts';
import { ChannelId, deriveDeliveryId, type ReceiverId } from '../../domain/ids.ts';
import { notFound } from '../../domain/problem.ts';
import { isTooOld } from '../../domain/redelivery.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { fitIntoPage, success } from '../../platform/reply.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { eventLog } from '../../store/event-log.ts';
import { arrivalStore } from '../../store/redelivery-records.ts';
import { deliveries, withDueTime } from '../deliveries.ts';
import { routeHandler, tables } from '../route-handler.ts';
import { narrowToVisible } from '../visible-events.ts';
import * as routes from './routes.ts';

const log = eventLog(tables.outbox);
const endpoints = endpointStore(tables.service);
const arrivals = arrivalStore(tables.service);

/** Deleted endpoints that are read for one event: each may have had a delivery of it. */
const MAX_DELETED = 50;

/** A receiver that may have a delivery of the event. */
interface Receiver {
  id: ReceiverId;
  /** Unknown for a deleted channel. */
  url?: string;
  receiverStatus: Endpoint['status'] | 'deleted';
}

const toReceiver = ({ id, url, status }: Endpoint): Receiver => ({ id, url, receiverStatus: status });

/**
 * Deliveries are found by their derived ids, so receivers that were deleted since are needed as well. They
 * are read last: an endpoint that is deleted meanwhile is in both lists, and never in none.
 */
async function listReceivers({ orgId, createdAt, onlyTo }: OutboxEvent): Promise<Receiver[]> {
  if (onlyTo !== undefined && ChannelId.safeParse(onlyTo).success) {
    const channel = await endpoints.find(orgId, onlyTo);
    return [channel === undefined ? { id: onlyTo, receiverStatus: 'deleted' } : toReceiver(channel)];
  }
  const existing = await endpoints.all(orgId);
  const deleted = await endpoints.deletedSince(orgId, createdAt, MAX_DELETED);
  const all: Receiver[] = [
    ...existing.map(toReceiver),
    ...deleted.map(({ id, url }) => ({ id, url, receiverStatus: 'deleted' as const })),
  ];
  const byId = new Map(all.map((receiver) => [receiver.id, receiver]));
  return [...byId.values()].filter(({ id }) => onlyTo === undefined || id === onlyTo);
}

/** Reads each receiver's own delivery of an event, and the redelivery that arrived, oldest first. */
async function readDeliveries(tenant: Tenant, event: OutboxEvent, receivers: readonly Receiver[]) {
  const arrived = await arrivals.at(
    tenant,
    event.id,
    receivers.map(({ id }) => id),
  );
  const { generation } = tenant;
  const wanted = receivers.flatMap(({ id: webhookId }) => {
    const first = { id: deriveDeliveryId(event.id, webhookId), webhookId, generation };
    const id = arrived.get(webhookId);
    return id === undefined ? [first] : [first, { ...first, id }];
  });
  const found = await deliveries.findAll(wanted, { consistent: false });
  return found.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

export const handler = routeHandler(routes.readEvent, async ({ tenant, params, now, allows }) => {
  const event = isTooOld(params.id, now) ? undefined : await log.find(tenant, params.id);
  if (event === undefined || narrowToVisible([event.type], allows)?.length === 0) return notFound('event');
  const receivers = await listReceivers(event);
  const found = await readDeliveries(tenant, event, receivers);
  const receiverOf = new Map(receivers.map((receiver) => [receiver.id, receiver]));
  return success({
    ...toEventView(event),
    payload: event.body,
    deliveries: withoutLargeResponses(
      found.map((delivery) => toView(delivery, receiverOf.get(delivery.webhookId))),
    ),
  });
});

function toView(found: Delivery, receiver: Receiver | undefined) {
  const { webhookId, attemptLog, ...delivery } = withDueTime(found);
  return {
    ...delivery,
    ...(ChannelId.safeParse(webhookId).success ? { channelId: webhookId } : { webhookId }),
    url: receiver?.url,
    receiverStatus: receiver?.receiverStatus,
    // The payload of the event is the body of every request, and many deliveries are in one response.
    attemptLog: attemptLog.map(({ request, ...attempt }) => attempt),
  };
}

/** Leaves out what receivers answered when the deliveries do not fit into a response with it. */
function withoutLargeResponses(views: readonly ReturnType<typeof toView>[]) {
  if (fitIntoPage(views, (view) => view).length === views.length) return views;
  return views.map((view) => ({
    ...view,
    attemptLog: view.attemptLog.map(({ response, ...attempt }) => attempt),
  }));
}
