import { getFailureStatus } from '../../domain/endpoint.ts';
import { notFound, problem } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { checkReceiver, createHostLimitProblem } from '../receivers.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const endpoints = endpointStore(tables.service);

/**
 * Changes what a customer sets of an endpoint, but not status or secret (docs/specification.md, Webhook
 * endpoints).
 */
export const handler = routeHandler(routes.updateWebhook, async ({ tenant, params, body }) => {
  const receiver = body.url === undefined ? undefined : await checkReceiver(body.url, tenant);
  if (receiver?.ok === false) return problem('VALIDATION_ERROR', `${receiver.problem}.`);
  const { url: _, ...settings } = body;
  const updated = await endpoints.update(tenant.orgId, params.id, {
    ...settings,
    ...(receiver === undefined ? {} : { url: receiver.url.href }),
  });
  if (updated === 'full') return createHostLimitProblem();
  return updated ? success({ ...updated, failing: getFailureStatus(updated) }) : notFound('webhook endpoint');
});
