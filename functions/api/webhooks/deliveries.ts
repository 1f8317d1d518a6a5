import type { Delivery, WebhookRequest } from '../../domain/delivery.ts';
import type { Endpoint } from '../../domain/endpoint.ts';
import { notFound, type Problem } from '../../domain/problem.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { deliveryStore } from '../../store/deliveries.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { tables } from '../endpoint.ts';

export const endpoints = endpointStore(tables.service);
export const deliveries = deliveryStore(tables.deliveries);

/** A delivery with its endpoint, which is read first because it is what belongs to the organization. */
export async function deliveryOf(
  tenant: Tenant,
  { id, deliveryId }: { id: Endpoint['id']; deliveryId: Delivery['id'] },
): Promise<{ endpoint: Endpoint; delivery: Delivery } | Problem> {
  const endpoint = await endpoints.find(tenant.orgId, id);
  if (!endpoint) return notFound('webhook endpoint');
  const { generation } = tenant;
  const delivery = await deliveries.find({ id: deliveryId, webhookId: endpoint.id, generation });
  return delivery ? { endpoint, delivery } : notFound('delivery');
}

/** A kept request as it is shown: the table gives back its header fields in no order. */
export const inOrder = (request: WebhookRequest): WebhookRequest => ({
  ...request,
  headers: Object.fromEntries(Object.entries(request.headers).sort(([a], [b]) => (a < b ? -1 : 1))),
});
