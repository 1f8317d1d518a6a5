import type { Delivery, WebhookRequest } from '../domain/delivery.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import { notFound, type Problem } from '../domain/problem.ts';
import type { Tenant } from '../domain/tenant.ts';
import { deliveryStore } from '../store/deliveries.ts';
import { endpointStore } from '../store/endpoints.ts';
import { tables } from './route-handler.ts';

/*
 * Deliveries of a webhook endpoint or a channel. The receiver is read first, to check its organization.
 */

export const deliveries = deliveryStore(tables.deliveries);

/** Refusal of an attempt that a user requests. */
export const NOT_SUBSCRIBED =
  'The webhook endpoint does not subscribe to the event type. Add the type to its events first.';

export async function findDelivery(
  receiver: Pick<Endpoint, 'id'>,
  { generation }: Tenant,
  id: Delivery['id'],
): Promise<Delivery | Problem> {
  const delivery = await deliveries.find({ id, webhookId: receiver.id, generation });
  return delivery ?? notFound('delivery');
}

/** Adds when the first attempt of a pending delivery is due, which its row does not say: at once. */
export const withDueTime = <T extends Pick<Delivery, 'status' | 'createdAt' | 'nextRetryAt'>>(
  delivery: T,
): T => (delivery.status === 'pending' ? { nextRetryAt: delivery.createdAt, ...delivery } : delivery);

/** Returns a delivery with its attempts as the API shows it. */
export const toDeliveryView = (delivery: Delivery): Delivery => ({
  ...withDueTime(delivery),
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
): Promise<{ endpoint: Endpoint; delivery: Delivery } | Problem> {
  const endpoint = await endpointStore(tables.service).find(tenant.orgId, id);
  if (!endpoint) return notFound('webhook endpoint');
  const delivery = await findDelivery(endpoint, tenant, deliveryId);
  return 'kind' in delivery ? delivery : { endpoint, delivery };
}
