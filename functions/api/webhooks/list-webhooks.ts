import { failingOf } from '../../domain/endpoint.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { endpoint, tables } from '../endpoint.ts';
import { paginated } from '../pages.ts';
import * as routes from './routes.ts';

const endpoints = endpointStore(tables.service);

export const handler = endpoint(routes.listWebhooks, (request) =>
  paginated(routes.listWebhooks, request, async (page) => {
    const { items, ...rest } = await endpoints.list(request.tenant.orgId, page);
    return { ...rest, items: items.map((item) => ({ ...item, failing: failingOf(item) })) };
  }),
);
