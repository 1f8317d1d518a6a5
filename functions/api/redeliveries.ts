import { isChannelId } from '../aws/ids.ts';
import { HISTORY_DAYS } from '../events/events.ts';
import { invalid, isProblem, refusals } from '../http/problem.ts';
import { success } from '../http/reply.ts';
import { createJob, FAILED_STATUSES, type RedeliveryJob, toJobView } from '../redelivery/jobs.ts';
import { compareFields } from '../tenancy/audit.ts';
import { listFields } from './fields.ts';
import { listHandler, mapPage } from './pages.ts';
import {
  type listRedeliveriesRoute,
  type readRedeliveryRoute,
  StartRedelivery,
  type startRedeliveryRoute,
  type stopRedeliveryRoute,
} from './receiver-routes.ts';
import { buildReceiverPath, findReceiver, getInactiveRefusals, isSentTo, nameReceiver } from './receivers.ts';
import { routeHandler } from './route-handler.ts';
import { jobs, startJob } from './stores.ts';

/*
 * Redelivery jobs of a webhook endpoint or a channel.
 */

/** The job as the API returns it. */
export const toRedelivery = (job: RedeliveryJob) => nameReceiver(toJobView(job));

export const startRedeliveryHandler = (route: ReturnType<typeof startRedeliveryRoute>) =>
  routeHandler(route, async ({ tenant, params: { id }, body, now, traceId, effect }) => {
    const receiver = await findReceiver(tenant.orgId, id);
    if (isProblem(receiver)) return receiver;
    if (!isSentTo(receiver)) return refusals.noReceiver;
    const { statuses = FAILED_STATUSES, ...request } = body;
    if (request.what === 'missing' && body.statuses !== undefined)
      return invalid({ field: 'statuses', code: 'not_allowed', message: 'applies to what: failed only' });
    const order = createJob({ ...request, statuses }, receiver, { tenant, now, traceId });
    if (order.kind === 'refused') {
      const refused = {
        ...getInactiveRefusals(id),
        'no-time': invalid({
          field: 'from',
          code: 'not_allowed',
          message: 'must be in the past and before to',
        }),
        'too-old': invalid({
          field: 'to',
          code: 'not_allowed',
          message: `must be within the last ${HISTORY_DAYS} days: older deliveries cannot be resent`,
        }),
      };
      return refused[order.why];
    }
    const { job } = order;
    const names = [isChannelId(id) ? 'channelId' : 'webhookId', ...listFields(StartRedelivery)];
    return effect(
      success(toRedelivery(job), { location: buildReceiverPath(id, `redeliveries/${job.id}`) }),
      startJob(job, now),
      { id: job.id, changes: compareFields(names, undefined, toRedelivery(job)) },
      { 'redelivery-running': refusals.redeliveryRunning },
    );
  });

export const listRedeliveriesHandler = (route: ReturnType<typeof listRedeliveriesRoute>) =>
  listHandler(route, async ({ tenant, params: { id } }, page) => {
    const receiver = await findReceiver(tenant.orgId, id);
    if (isProblem(receiver)) return receiver;
    return mapPage(await jobs.list(tenant, id, page), toRedelivery);
  });

/** Works for a deleted receiver too, so that callers can read why the job stopped. */
export const readRedeliveryHandler = (route: ReturnType<typeof readRedeliveryRoute>) =>
  routeHandler(route, async ({ tenant, params }) => {
    const job = await jobs.find(tenant, params.id, params.redeliveryId);
    return job ? success(toRedelivery(job)) : refusals.notFound('redelivery job');
  });

/** Stopping a finished or unknown job succeeds, so that retries are safe. */
export const stopRedeliveryHandler = (route: ReturnType<typeof stopRedeliveryRoute>) =>
  routeHandler(route, ({ tenant, params, now, effect }) => {
    const { id: webhookId, redeliveryId: id } = params;
    const done = success(undefined);
    return effect(
      done,
      jobs.stop({ ...tenant, webhookId, id }, now),
      { id, changes: [{ field: 'status', before: 'running', after: 'stopped' }] },
      { 'redelivery-over': async () => done },
    );
  });
