import { notFound } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { deliveryStore } from '../../store/deliveries.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { commit, endpoint, tables } from '../endpoint.ts';
import * as routes from './routes.ts';

const endpoints = endpointStore(tables.service);
const deliveries = deliveryStore(tables.deliveries, tables.service, commit);

export const handler = endpoint(routes.readDelivery, async ({ tenant, params }) => {
  // The endpoint is read first because it is what belongs to the organization.
  const owner = await endpoints.find(tenant.orgId, params.id);
  if (!owner) return notFound('webhook endpoint');
  const found = await deliveries.find({
    id: params.deliveryId,
    webhookId: owner.id,
    generation: tenant.generation,
  });
  return found ? success(found) : notFound('delivery');
});
