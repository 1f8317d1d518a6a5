import { notFound } from '../../domain/problem.ts';
import { endpoint } from '../endpoint.ts';
import { paginated } from '../pages.ts';
import { deliveries, endpoints } from './deliveries.ts';
import * as routes from './routes.ts';

export const handler = endpoint(routes.listDeliveries, (request) =>
  paginated(routes.listDeliveries, request, async (page) => {
    const { tenant, params } = request;
    const found = await endpoints.find(tenant.orgId, params.id);
    return found ? deliveries.list(tenant, found.id, page) : notFound('webhook endpoint');
  }),
);
