import { notFound } from '../../domain/problem.ts';
import { toJobView } from '../../domain/redelivery-job.ts';
import { success } from '../../platform/reply.ts';
import { redeliveryJobs } from '../../store/redelivery-jobs.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const jobs = redeliveryJobs(tables.service);

/** Works for a deleted endpoint too, so that callers can read why the job stopped. */
export const handler = routeHandler(routes.readRedelivery, async ({ tenant, params }) => {
  const found = await jobs.find(tenant, params.id, params.redeliveryId);
  return found ? success(toJobView(found)) : notFound('redelivery job');
});
