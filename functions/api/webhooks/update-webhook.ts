import { retryOnConflict } from '../../http/api.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { Endpoint, getFailureStatus, MAX_ENDPOINTS_PER_HOST } from '../../receivers/endpoint.ts';
import { compareFields } from '../../tenancy/audit.ts';
import { checkReceiver, createUrlProblem } from '../receivers.ts';
import { routeHandler } from '../route-handler.ts';
import { endpoints } from '../stores.ts';
import * as routes from './routes.ts';

/**
 * Changes what a customer sets of an endpoint, but not status or secret (docs/specification.md, Webhook
 * endpoints).
 */
export const handler = routeHandler(
  routes.updateWebhook,
  async ({ tenant, params: { id }, body, effect }) => {
    const receiver = body.url === undefined ? undefined : await checkReceiver(body.url, tenant);
    if (receiver?.ok === false) return createUrlProblem(receiver);
    const given = { ...body, ...(receiver === undefined ? {} : { url: receiver.url.href }) };
    return retryOnConflict(async (again) => {
      const stored = await endpoints.findToChange(tenant.orgId, id);
      if (stored === undefined) return refusals.notFound('webhook endpoint');
      const endpoint = Endpoint.parse(stored.row);
      const updated = { ...endpoint, ...given };
      const changes = compareFields(Object.keys(given), endpoint, updated);
      const reply = success({ ...updated, failing: getFailureStatus(updated) });
      if (changes.length === 0) return reply;
      return effect(
        reply,
        endpoints.buildUpdate(stored, given),
        { id, changes },
        {
          'endpoint-changed': again,
          'endpoint-host-limit': refusals.tooManyEndpointsAtHost(MAX_ENDPOINTS_PER_HOST),
        },
      );
    });
  },
);
