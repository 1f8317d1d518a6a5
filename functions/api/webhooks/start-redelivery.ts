import { HISTORY_DAYS } from '../../events/events.ts';
import { invalid, refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { createJob, FAILED_STATUSES, toJobView } from '../../redelivery/jobs.ts';
import { compareFields } from '../../tenancy/audit.ts';
import { listFields } from '../fields.ts';
import { routeHandler } from '../route-handler.ts';
import { endpoints, startJob } from '../stores.ts';
import * as routes from './routes.ts';

const REQUEST_FIELDS = listFields(routes.StartRedelivery);

export const handler = routeHandler(
  routes.startRedelivery,
  async ({ tenant, params, body, now, traceId, effect }) => {
    const endpoint = await endpoints.find(tenant.orgId, params.id);
    if (!endpoint) return refusals.notFound('webhook endpoint');
    const { statuses = FAILED_STATUSES, ...request } = body;
    if (request.what === 'missing' && body.statuses !== undefined)
      return invalid({ field: 'statuses', code: 'not_allowed', message: 'applies to what: failed only' });
    const to = { id: params.id, status: endpoint.status };
    const order = createJob({ ...request, statuses }, to, { tenant, now, traceId });
    if (order.kind === 'refused') return REFUSALS[order.why];
    const { job } = order;
    return effect(
      success(toJobView(job), { location: `/api/v1/webhooks/${job.webhookId}/redeliveries/${job.id}` }),
      startJob(job, now),
      { id: job.id, changes: compareFields(['webhookId', ...REQUEST_FIELDS], undefined, toJobView(job)) },
      { 'redelivery-running': refusals.redeliveryRunning },
    );
  },
);

const REFUSALS = {
  ...refusals.inactiveEndpoint,
  'no-time': invalid({ field: 'from', code: 'not_allowed', message: 'must be in the past and before to' }),
  'too-old': invalid({
    field: 'to',
    code: 'not_allowed',
    message: `must be within the last ${HISTORY_DAYS} days: older deliveries cannot be resent`,
  }),
};
