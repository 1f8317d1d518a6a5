import { retryOnConflict } from '../../http/api.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { Endpoint, getFailureStatus, MAX_ENDPOINTS_PER_HOST } from '../../receivers/endpoint.ts';
import { toJobView } from '../../redelivery/jobs.ts';
import { planUpdate } from '../receiver-state.ts';
import { checkReceiver, createUrlProblem } from '../receivers.ts';
import { routeHandler } from '../route-handler.ts';
import { endpoints, startJob } from '../stores.ts';
import * as routes from './routes.ts';

/**
 * Changes what a customer sets of an endpoint, but not its secret, and pauses or resumes it. Resuming starts
 * the job that sends what was skipped (docs/specification.md, Webhook endpoints).
 */
export const handler = routeHandler(
  routes.updateWebhook,
  async ({ tenant, params: { id }, body: { paused, ...body }, now, traceId, effect }) => {
    const receiver = body.url === undefined ? undefined : await checkReceiver(body.url, tenant);
    if (receiver?.ok === false) return createUrlProblem(receiver);
    const settings = { ...body, ...(receiver === undefined ? {} : { url: receiver.url.href }) };
    return retryOnConflict(async (again) => {
      const stored = await endpoints.findToChange(tenant.orgId, id);
      if (stored === undefined) return refusals.notFound('webhook endpoint');
      const endpoint = Endpoint.parse(stored.row);
      const plan = planUpdate(endpoint, { ...settings, paused }, { tenant, now, traceId });
      if ('kind' in plan) return plan;
      const { given, updated, changes, job } = plan;
      const reply = success({
        ...updated,
        failing: getFailureStatus(updated),
        redelivery: job && toJobView(job),
      });
      if (changes.length === 0) return reply;
      return effect(
        reply,
        [...endpoints.buildUpdate(stored, given), ...(job ? startJob(job, now) : [])],
        { id, changes },
        {
          'endpoint-changed': again,
          'endpoint-host-limit': refusals.tooManyEndpointsAtHost(MAX_ENDPOINTS_PER_HOST),
          'redelivery-running': refusals.redeliveryRunning,
        },
      );
    });
  },
);
