import { eventLog } from '../../events/event-log.ts';
import { type OutboxEvent, toEventView } from '../../events/events.ts';
import { listHandler, mapPage } from '../pages.ts';
import { tables } from '../route-handler.ts';
import { narrowToVisible, withDeliveries } from './deliveries.ts';
import { type Included, withRecords } from './records.ts';
import * as routes from './routes.ts';

const log = eventLog(tables.outbox, tables.service);

export const handler = listHandler(
  routes.listEvents,
  async ({ tenant, query, now, allows }, page) => {
    const { type, from, to, order, ids, include } = query;
    const filter = { types: narrowToVisible(type, allows), from, to };
    if (filter.types?.length === 0) return { items: [] };
    const [list, inOrder] =
      order === 'asc'
        ? ([log.listOldest, 'oldest first'] as const)
        : ([log.listNewest, 'newest first'] as const);
    const readPage = (limit: number) =>
      ids === undefined
        ? list(tenant, { ...page, limit }, filter, now)
        : log.listThese(tenant, ids, { ...page, limit }, filter, inOrder, now);
    const limit = ids?.length ?? page.limit;
    const events = include?.includes('deliveries')
      ? await withDeliveries(tenant, { limit, now }, readPage)
      : await readPage(limit);
    const listed = include?.includes('record') ? await withRecords(tenant, events, allows) : events;
    return mapPage<OutboxEvent & Included, { id: string }>(listed, (event) => ({
      ...toEventView(event),
      deliveries: event.deliveries,
      record: event.record,
      recordOmitted: event.recordOmitted,
    }));
  },
  ({ type, from, to, order = 'desc', ids }) => [
    JSON.stringify([type?.toSorted(), from?.getTime(), to?.getTime(), order, ...(ids?.toSorted() ?? [])]),
  ],
);
