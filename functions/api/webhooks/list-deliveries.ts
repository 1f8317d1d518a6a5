import { refusals } from '../../http/problem.ts';
import { describeFilters, listDeliveriesPage } from '../deliveries.ts';
import { listHandler } from '../pages.ts';
import { endpoints } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = listHandler(
  routes.listDeliveries,
  async ({ tenant, params, query, now }, page) => {
    const endpoint = await endpoints.find(tenant.orgId, params.id);
    if (!endpoint) return refusals.notFound('webhook endpoint');
    return listDeliveriesPage(endpoint, page, { tenant, query, now });
  },
  describeFilters,
);
