import { notFound } from '../../domain/problem.ts';
import { deliveryStore } from '../../store/deliveries.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { commit, endpoint, tables } from '../endpoint.ts';
import { paginated } from '../pages.ts';
import * as routes from './routes.ts';

const endpoints = endpointStore(tables.service);
const deliveries = deliveryStore(tables.deliveries, tables.service, commit);

export const handler = endpoint(routes.listDeliveries, (request) =>
  paginated(routes.listDeliveries, request, async (page) => {
    const { tenant, params } = request;
    const found = await endpoints.find(tenant.orgId, params.id);
    return found ? deliveries.list(tenant, found.id, page) : notFound('webhook endpoint');
  }),
);
