import { createNotice } from '../../domain/bus.ts';
import { success } from '../../platform/reply.ts';
import { outboxStore } from '../../store/outbox.ts';
import { commit, routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';
import { sources } from './sources.ts';

const outbox = outboxStore(tables.outbox);

/** Deleting a deleted source succeeds, so that retries are safe. Its texts are deleted later. */
export const handler = routeHandler(routes.deleteSource, async ({ tenant, params: { id }, now, traceId }) => {
  const notice = createNotice('source.deleted', `${id}#deleted`, { sourceId: id }, { tenant, now, traceId });
  await commit([...sources.remove(tenant, id), outbox.appendNotice(notice)]);
  return success(undefined);
});
