import { eventLog } from '../../events/event-log.ts';
import { toEventView } from '../../events/events.ts';
import { listHandler, mapPage } from '../pages.ts';
import { tables } from '../route-handler.ts';
import { narrowToVisible, withDeliveries } from './deliveries.ts';
import * as routes from './routes.ts';

const log = eventLog(tables.outbox, tables.service);

export const handler = listHandler(
  routes.listEvents,
  async ({ tenant, query, now, allows }, page) => {
    const { type, from, to, order, include } = query;
    const filter = { types: narrowToVisible(type, allows), from, to };
    if (filter.types?.length === 0) return { items: [] };
    const read = order === 'asc' ? log.listOldest : log.listNewest;
    const readPage = (limit: number) => read(tenant, { ...page, limit }, filter, now);
    if (include === undefined) return mapPage(await readPage(page.limit), toEventView);
    const listed = await withDeliveries(tenant, { limit: page.limit, now }, readPage);
    return mapPage(listed, (event) => ({ ...toEventView(event), deliveries: event.deliveries }));
  },
  ({ type, from, to, order = 'desc' }) => [
    JSON.stringify([type?.toSorted(), from?.getTime(), to?.getTime(), order]),
  ],
);
