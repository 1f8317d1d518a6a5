import { success } from '../../http/reply.ts';
import { routeHandler } from '../route-handler.ts';
import { jobs } from '../stores.ts';
import * as routes from './routes.ts';

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
