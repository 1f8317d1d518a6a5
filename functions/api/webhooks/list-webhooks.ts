import { getFailureStatus } from '../../receivers/endpoint.ts';
import { listHandler, mapPage } from '../pages.ts';
import { endpoints } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = listHandler(routes.listWebhooks, async ({ tenant }, page) =>
  mapPage(await endpoints.list(tenant.orgId, page), (endpoint) => ({
    ...endpoint,
    failing: getFailureStatus(endpoint),
  })),
);
