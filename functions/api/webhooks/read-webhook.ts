import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { getFailureStatus } from '../../receivers/endpoint.ts';
import { endpointStore } from '../../receivers/endpoints.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const endpoints = endpointStore(tables.service);

export const handler = routeHandler(routes.readWebhook, async ({ tenant, params }) => {
  const found = await endpoints.find(tenant.orgId, params.id);
  return found
    ? success({ ...found, failing: getFailureStatus(found) })
    : refusals.notFound('webhook endpoint');
});
