import { getFailureStatus } from '../../domain/endpoint.ts';
import { notFound } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { checkReceiver, createHostLimitProblem, createUrlProblem } from '../receivers.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const endpoints = endpointStore(tables.service);

/** Changes URL and event types, but not status or secret (docs/specification.md, Webhook endpoints). */
export const handler = routeHandler(routes.updateWebhook, async ({ tenant, params, body }) => {
  const receiver = body.url === undefined ? undefined : await checkReceiver(body.url, tenant);
  if (receiver?.ok === false) return createUrlProblem(receiver);
  const updated = await endpoints.update(tenant.orgId, params.id, {
    ...(receiver === undefined ? {} : { url: receiver.url.href }),
    ...(body.events === undefined ? {} : { events: body.events }),
  });
  if (updated === 'full') return createHostLimitProblem();
  return updated ? success({ ...updated, failing: getFailureStatus(updated) }) : notFound('webhook endpoint');
});
