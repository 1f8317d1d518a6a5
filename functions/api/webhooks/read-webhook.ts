import { getFailureStatus } from '../../domain/endpoint.ts';
import { notFound } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const endpoints = endpointStore(tables.service);

export const handler = routeHandler(routes.readWebhook, async ({ tenant, params }) => {
  const found = await endpoints.find(tenant.orgId, params.id);
  return found ? success({ ...found, failing: getFailureStatus(found) }) : notFound('webhook endpoint');
});
