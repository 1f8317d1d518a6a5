import { deliveryStore } from '../delivery/deliveries.ts';
import { type Delivery, OPEN_STATUSES, type WebhookRequest } from '../delivery/delivery.ts';
import { MAX_ATTEMPTS } from '../delivery/timing.ts';
import { refusals } from '../http/problem.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import { endpointStore } from '../receivers/endpoints.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { tables } from './route-handler.ts';

/*
 * Deliveries of a webhook endpoint or a channel. The receiver is read first, to check its organization.
 */

export const deliveries = deliveryStore(tables.deliveries);

export async function findDelivery(
  receiver: Pick<Endpoint, 'id'>,
  { generation }: Tenant,
  id: Delivery['id'],
) {
  const delivery = await deliveries.find({ id, webhookId: receiver.id, generation });
  return delivery ?? refusals.notFound('delivery');
}

/**
 * Returns a delivery with the time at which its next attempt is due. It has none while an attempt is in
 * progress, and after the last one; the row of a new delivery does not say that it is due at once.
 */
export function withDueTime(delivery: Delivery, now: Date): Delivery {
  const { status, attempts, lease, createdAt, nextRetryAt = createdAt, ...rest } = delivery;
  if (!OPEN_STATUSES.some((open) => open === status)) return delivery;
  const isInProgress = lease !== undefined && lease.until > now.getTime();
  if (!isInProgress && attempts < MAX_ATTEMPTS) return { ...delivery, nextRetryAt };
  return { ...rest, status, attempts, createdAt };
}

/** Returns a delivery with its attempts as the API shows it. */
export const toDeliveryView = (delivery: Delivery, now: Date): Delivery => ({
  ...withDueTime(delivery, now),
  attemptLog: delivery.attemptLog.map(({ request, ...attempt }) => ({
    ...attempt,
    ...(request && { request: sortHeaders(request) }),
  })),
});

/** Sorts header fields, because DynamoDB returns maps in no order. */
export const sortHeaders = (request: WebhookRequest): WebhookRequest => ({
  ...request,
  headers: Object.fromEntries(Object.entries(request.headers).sort(([a], [b]) => (a < b ? -1 : 1))),
});

/** Reads a delivery with its webhook endpoint. */
export async function findEndpointDelivery(
  tenant: Tenant,
  { id, deliveryId }: { id: Endpoint['id']; deliveryId: Delivery['id'] },
) {
  const endpoint = await endpointStore(tables.service).find(tenant.orgId, id);
  if (!endpoint) return refusals.notFound('webhook endpoint');
  const delivery = await findDelivery(endpoint, tenant, deliveryId);
  return 'kind' in delivery ? delivery : { endpoint, delivery };
}
