import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { getFailureStatus } from '../../receivers/endpoint.ts';
import { routeHandler } from '../route-handler.ts';
import { endpoints } from '../stores.ts';
import * as routes from './routes.ts';

export const handler = routeHandler(routes.readWebhook, async ({ tenant, params }) => {
  const endpoint = await endpoints.find(tenant.orgId, params.id);
  return endpoint
    ? success({ ...endpoint, failing: getFailureStatus(endpoint) })
    : refusals.notFound('webhook endpoint');
});
