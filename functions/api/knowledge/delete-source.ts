import { createNotice } from '../../events/bus.ts';
import { success } from '../../http/reply.ts';
import { sourceStore } from '../../knowledge/sources.ts';
import { compareFields } from '../../tenancy/audit.ts';
import { routeHandler } from '../route-handler.ts';
import { knowledge, outbox } from '../stores.ts';
import * as routes from './routes.ts';

const sources = sourceStore(knowledge);
const done = success(undefined);

/** Deleting a deleted source succeeds, so that retries are safe. Its texts are deleted later. */
export const handler = routeHandler(routes.deleteSource, async (request) => {
  const { tenant, effect } = request;
  const { id } = request.params;
  const source = await sources.findToRemove(tenant, id);
  if (source === undefined) return done;
  const notice = createNotice('source.deleted', `${id}#deleted`, { sourceId: id }, request);
  return effect(
    done,
    [...sources.remove(tenant, id), outbox.appendNotice(notice)],
    { id, changes: compareFields(routes.SOURCE_SETTINGS, source, undefined) },
    { 'source-missing': async () => done },
  );
});
