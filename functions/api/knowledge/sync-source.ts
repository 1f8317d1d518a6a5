import { newNotice } from '../../domain/bus.ts';
import { newId } from '../../domain/ids.ts';
import { notFound } from '../../domain/problem.ts';
import { shownSource } from '../../domain/source.ts';
import { success } from '../../platform/reply.ts';
import { outboxStore } from '../../store/outbox.ts';
import { endpoint, tables } from '../endpoint.ts';
import * as routes from './routes.ts';
import { sources } from './sources.ts';

const outbox = outboxStore(tables.outbox);

/** Orders a check. Which was asked for before it begins is what it does as well, so that many at once fetch once or twice. */
export const handler = endpoint(routes.syncSource, async ({ tenant, params, now, traceId, effect }) => {
  const source = await sources.find(tenant, params.id);
  if (!source) return notFound('source of knowledge');
  // Each sync is told for itself, so its notice has an identifier of its own.
  const notice = newNotice(
    'source.check',
    `${source.id}#check#${newId('evt', now)}`,
    { sourceId: source.id },
    { tenant, now, traceId },
  );
  return effect(success(shownSource(source)), [outbox.appendNotice(notice)]);
});
