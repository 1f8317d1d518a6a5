import { compareFields } from '../../domain/audit.ts';
import { createNotice } from '../../domain/bus.ts';
import { newId } from '../../domain/ids.ts';
import { problem } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { outboxStore } from '../../store/outbox.ts';
import { createSource, MAX_SOURCES, toSourceView } from '../../store/sources.ts';
import { checkReceiver, createUrlProblem } from '../receivers.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';
import { SOURCE_SETTINGS } from './schemas.ts';
import { sources } from './sources.ts';

const outbox = outboxStore(tables.outbox);

/** Adds the source and the notice of its first check in one transaction. */
export const handler = routeHandler(routes.createSource, async ({ tenant, body, now, traceId, effect }) => {
  const target = await checkReceiver(body.url, tenant);
  if (!target.ok) return createUrlProblem(target);
  const source = createSource({
    ...body,
    ...tenant,
    id: newId('src', now),
    url: target.url.href,
    createdAt: now.toISOString(),
  });
  const notice = createNotice(
    'source.check',
    `${source.id}#check#created`,
    { sourceId: source.id },
    { tenant, now, traceId },
  );
  return effect(
    success(toSourceView(source), { location: `/api/v1/knowledge/sources/${source.id}` }),
    [...sources.add(source), outbox.appendNotice(notice)],
    { id: source.id, changes: compareFields(SOURCE_SETTINGS, undefined, source) },
    {
      'source-limit': problem(
        'LIMIT_EXCEEDED',
        `An organization can have at most ${MAX_SOURCES} content sources. Delete one first.`,
      ),
    },
  );
});
