import { notFound } from '../../domain/problem.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { filtersOf, listedDeliveries } from '../listed-deliveries.ts';
import { paginated } from '../pages.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const endpoints = endpointStore(tables.service);

export const handler = routeHandler(routes.listDeliveries, (request) =>
  paginated(
    routes.listDeliveries,
    request,
    async (page) => {
      const { tenant, params, query, now } = request;
      const found = await endpoints.find(tenant.orgId, params.id);
      if (!found) return notFound('webhook endpoint');
      return listedDeliveries(found, page, { tenant, query, now });
    },
    filtersOf(request.query),
  ),
);
