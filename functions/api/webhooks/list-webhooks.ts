import { endpointStore } from '../../store/endpoints.ts';
import { endpoint, tables } from '../endpoint.ts';
import { paginated } from '../pages.ts';
import * as routes from './routes.ts';

const endpoints = endpointStore(tables.service);

export const handler = endpoint(routes.listWebhooks, (request) =>
  paginated(routes.listWebhooks, request, (page) => endpoints.list(request.tenant.orgId, page)),
);
