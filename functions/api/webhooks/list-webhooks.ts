import { getFailureStatus } from '../../receivers/endpoint.ts';
import { endpointStore } from '../../receivers/endpoints.ts';
import { paginate } from '../pages.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const endpoints = endpointStore(tables.service);

export const handler = routeHandler(routes.listWebhooks, (request) =>
  paginate(routes.listWebhooks, request, async (page) => {
    const { items, ...rest } = await endpoints.list(request.tenant.orgId, page);
    return { ...rest, items: items.map((item) => ({ ...item, failing: getFailureStatus(item) })) };
  }),
);
