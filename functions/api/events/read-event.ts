import { deriveDeliveryId } from '../../aws/ids.ts';
import { type Delivery, explainAbsence } from '../../delivery/delivery.ts';
import { isFirstDelivery, isTooOld } from '../../delivery/redelivery.ts';
import { eventLog } from '../../events/event-log.ts';
import { type OutboxEvent, toEventView } from '../../events/events.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import type { Endpoint } from '../../receivers/endpoint.ts';
import type { Tenant } from '../../tenancy/tenant.ts';
import { eraseTexts } from '../deliveries.ts';
import { fitIntoPage } from '../pages.ts';
import { routeHandler, tables } from '../route-handler.ts';
import { deliveries, endpoints } from '../stores.ts';
import {
  findReceivers,
  findRedeliveryRecords,
  isForChannel,
  MAX_DELETED,
  narrowToVisible,
  type Receiver,
  toSummary,
} from './deliveries.ts';
import { withRecords } from './records.ts';
import * as routes from './routes.ts';

const log = eventLog(tables.outbox, tables.service);

/** Deliveries exist within a second; a fan-out that has failed adds them later. */
const FANNED_OUT_MS = 60_000;

/** Reads each receiver's own delivery of an event, and the redelivery that succeeded, oldest first. */
async function readDeliveries(tenant: Tenant, event: OutboxEvent, receivers: readonly Receiver[]) {
  const { generation } = tenant;
  const pairs = receivers.map(({ id: webhookId }) => ({ eventId: event.id, webhookId }));
  const wanted = [
    ...pairs.map(({ webhookId }) => ({ id: deriveDeliveryId(event.id, webhookId), webhookId, generation })),
    ...(await findRedeliveryRecords(tenant, pairs)).flatMap(({ webhookId, succeededId: id }) =>
      id === undefined ? [] : [{ id, webhookId, generation }],
    ),
  ];
  const all = await eraseTexts(tenant, await deliveries.findAll(wanted, { consistent: false }));
  return all.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

export const handler = routeHandler(routes.readEvent, async ({ tenant, params, query, now, allows }) => {
  const event = isTooOld(params.id, now) ? undefined : await log.find(tenant, params.id);
  if (event === undefined || narrowToVisible([event.type], allows)?.length === 0)
    return refusals.notFound('event');
  const existing = isForChannel(event) ? [] : await endpoints.all(event.orgId);
  const receivers = (await findReceivers(event.orgId, [event], existing))(event);
  const ofEvent = await readDeliveries(tenant, event, receivers);
  const undelivered = isForChannel(event) ? [] : await explainAbsences(event, existing, ofEvent, now);
  const receiverOf = new Map(receivers.map((receiver) => [receiver.id, receiver]));
  const isWithRecord = query.include !== undefined;
  const [included] = isWithRecord ? (await withRecords(tenant, { items: [event] }, allows)).items : [];
  return success({
    ...toEventView(event),
    record: included?.record,
    recordOmitted: included?.recordOmitted,
    payload: event.body,
    deliveries: withoutLargeResponses(
      ofEvent.map((delivery) => toView(delivery, receiverOf.get(delivery.webhookId), now)),
    ),
    undelivered,
  });
});

/** Endpoints that got no attempt of an event, those that were deleted since included. */
async function explainAbsences(
  event: OutboxEvent,
  existing: readonly Endpoint[],
  ofEvent: readonly Delivery[],
  now: Date,
) {
  const deleted = await endpoints.deletedSince(event.orgId, event.createdAt, MAX_DELETED);
  const known = new Set(existing.map(({ id }) => id));
  const all = [...existing, ...deleted.filter(({ id }) => !known.has(id))];
  return all.flatMap((endpoint) => {
    const { id: webhookId, url } = endpoint;
    const delivery = ofEvent.find((one) => one.webhookId === webhookId && isFirstDelivery(one));
    const until = 'deletedAt' in endpoint ? Date.parse(endpoint.deletedAt) : now.getTime();
    const isFannedOut = until - Date.parse(event.createdAt) > FANNED_OUT_MS;
    const reason = explainAbsence(event, endpoint, delivery, isFannedOut);
    if (reason === undefined) return [];
    const receiverStatus = 'status' in endpoint ? endpoint.status : 'deleted';
    return [{ webhookId, url, receiverStatus, reason }];
  });
}

const toView = (delivery: Delivery, receiver: Receiver | undefined, now: Date) => ({
  ...toSummary(delivery, receiver, now),
  // The payload of the event is the body of every request, and many deliveries are in one response.
  attemptLog: delivery.attemptLog.map(({ request, ...attempt }) => attempt),
});

/** Leaves out what receivers answered when the deliveries do not fit into a response with it. */
function withoutLargeResponses(views: readonly ReturnType<typeof toView>[]) {
  if (fitIntoPage(views, (view) => view).length === views.length) return views;
  return views.map((view) => ({
    ...view,
    attemptLog: view.attemptLog.map(({ response, ...attempt }) => attempt),
  }));
}
