import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { toJobView } from '../../redelivery/jobs.ts';
import { routeHandler } from '../route-handler.ts';
import { jobs } from '../stores.ts';
import * as routes from './routes.ts';

/** Works for a deleted endpoint too, so that callers can read why the job stopped. */
export const handler = routeHandler(routes.readRedelivery, async ({ tenant, params }) => {
  const job = await jobs.find(tenant, params.id, params.redeliveryId);
  return job ? success(toJobView(job)) : refusals.notFound('redelivery job');
});
