import { refusals } from '../../http/problem.ts';
import { endpointStore } from '../../receivers/endpoints.ts';
import { describeFilters, listDeliveriesPage } from '../listed-deliveries.ts';
import { paginate } from '../pages.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const endpoints = endpointStore(tables.service);

export const handler = routeHandler(routes.listDeliveries, (request) =>
  paginate(
    routes.listDeliveries,
    request,
    async (page) => {
      const { tenant, params, query, now } = request;
      const found = await endpoints.find(tenant.orgId, params.id);
      if (!found) return refusals.notFound('webhook endpoint');
      return listDeliveriesPage(found, page, { tenant, query, now });
    },
    describeFilters(request.query),
  ),
);
