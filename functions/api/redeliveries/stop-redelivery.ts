import { success } from '../../platform/reply.ts';
import { redeliveryJobs } from '../../store/redelivery-jobs.ts';
import { commit, routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const jobs = redeliveryJobs(tables.service);

/** Stopping a finished or unknown job succeeds, so that retries are safe. */
export const handler = routeHandler(routes.stopRedelivery, async ({ tenant, params, now }) => {
  await commit(jobs.stop({ ...tenant, webhookId: params.id, id: params.redeliveryId }, now));
  return success(undefined);
});
