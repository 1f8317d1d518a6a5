import { readEnvironment, SyncEnvironment } from '../../aws/config.ts';
import { newId } from '../../aws/ids.ts';
import { createNotice } from '../../events/bus.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { sourceStore, toSourceView } from '../../knowledge/sources.ts';
import { routeHandler } from '../route-handler.ts';
import { knowledge, outbox } from '../stores.ts';
import * as routes from './routes.ts';

const sources = sourceStore(knowledge);
const { SYNC_COOLDOWN_SECONDS: cooldownSeconds } = readEnvironment(SyncEnvironment);

/** Requests a check. All requests before it starts share it, so many requests cause one or two fetches. */
export const handler = routeHandler(routes.syncSource, async ({ tenant, params, now, traceId, effect }) => {
  const source = await sources.find(tenant, params.id);
  if (!source) return refusals.notFound('content source');
  // A random id, because each sync needs a notice of its own.
  const notice = createNotice(
    'source.check',
    `${source.id}#check#${newId('evt', now)}`,
    { sourceId: source.id },
    { tenant, now, traceId },
  );
  return effect(
    success(toSourceView(source)),
    [sources.sync(tenant, source.id, { now, cooldownSeconds }), outbox.appendNotice(notice)],
    {
      'source-synced': async () => {
        const { syncedAt } = (await sources.find(tenant, source.id)) ?? {};
        if (syncedAt === undefined) return refusals.notFound('content source');
        // Another instance's clock may be ahead; never wait longer than the cooldown.
        const since = Math.min(Date.parse(syncedAt), now.getTime());
        const wait = Math.ceil((since - now.getTime()) / 1000 + cooldownSeconds);
        return refusals.recentSync(Math.max(1, wait));
      },
    },
  );
});
