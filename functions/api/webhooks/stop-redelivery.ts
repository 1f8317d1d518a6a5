import { success } from '../../http/reply.ts';
import { redeliveryJobs } from '../../redelivery/jobs.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const jobs = redeliveryJobs(tables.service);
const done = success(undefined);

/** Stopping a finished or unknown job succeeds, so that retries are safe. */
export const handler = routeHandler(routes.stopRedelivery, ({ tenant, params, now, effect }) => {
  const { id: webhookId, redeliveryId: id } = params;
  return effect(
    done,
    jobs.stop({ ...tenant, webhookId, id }, now),
    { id, changes: [{ field: 'status', before: 'running', after: 'stopped' }] },
    { 'redelivery-over': async () => done },
  );
});
