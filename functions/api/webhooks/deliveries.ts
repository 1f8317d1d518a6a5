import type { Delivery } from '../../domain/delivery.ts';
import type { Endpoint } from '../../domain/endpoint.ts';
import { notFound, type Problem } from '../../domain/problem.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { deliveryTo } from '../deliveries.ts';
import { tables } from '../endpoint.ts';

const endpoints = endpointStore(tables.service);

/** A delivery with its endpoint. */
export async function deliveryOf(
  tenant: Tenant,
  { id, deliveryId }: { id: Endpoint['id']; deliveryId: Delivery['id'] },
): Promise<{ endpoint: Endpoint; delivery: Delivery } | Problem> {
  const endpoint = await endpoints.find(tenant.orgId, id);
  if (!endpoint) return notFound('webhook endpoint');
  const delivery = await deliveryTo(endpoint, tenant, deliveryId);
  return 'kind' in delivery ? delivery : { endpoint, delivery };
}
