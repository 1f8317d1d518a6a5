import { success } from '../../http/reply.ts';
import type { RedeliveryJobStatus } from '../../redelivery/job.ts';
import { routeHandler } from '../route-handler.ts';
import { jobs } from '../stores.ts';
import * as routes from './routes.ts';

const done = success(undefined);
const [before, after]: [RedeliveryJobStatus, RedeliveryJobStatus] = ['running', 'stopped'];

/** Stopping a finished or unknown job succeeds, so that retries are safe. */
export const handler = routeHandler(routes.stopRedelivery, ({ tenant, params, now, effect }) => {
  const { id: webhookId, redeliveryId: id } = params;
  return effect(
    done,
    jobs.stop({ ...tenant, webhookId, id }, now),
    { id, changes: [{ field: 'status', before, after }] },
    { 'redelivery-over': async () => done },
  );
});
