import { newId } from '../../aws/ids.ts';
import { createNotice } from '../../events/bus.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { createSource, MAX_SOURCES, sourceStore, toSourceView } from '../../knowledge/sources.ts';
import { compareFields } from '../../tenancy/audit.ts';
import { checkReceiver, createUrlProblem } from '../receivers.ts';
import { routeHandler } from '../route-handler.ts';
import { knowledge, outbox } from '../stores.ts';
import * as routes from './routes.ts';

const sources = sourceStore(knowledge);

/** Adds the source and the notice of its first check in one transaction. */
export const handler = routeHandler(routes.createSource, async (request) => {
  const { tenant, body, now, effect } = request;
  const target = await checkReceiver(body.url, tenant);
  if (!target.ok) return createUrlProblem(target);
  const source = createSource({
    ...body,
    ...tenant,
    id: newId('src', now),
    url: target.url.href,
    createdAt: now.toISOString(),
  });
  const notice = createNotice('source.check', `${source.id}#check#created`, { sourceId: source.id }, request);
  return effect(
    success(toSourceView(source), { location: `/api/v1/knowledge/sources/${source.id}` }),
    [...sources.add(source), outbox.appendNotice(notice)],
    { id: source.id, changes: compareFields(routes.SOURCE_SETTINGS, undefined, source) },
    { 'source-limit': refusals.tooMany('content sources', MAX_SOURCES) },
  );
});
