import { eventLog } from '../../events/event-log.ts';
import { toEventView } from '../../events/events.ts';
import { withDeliveries } from '../event-deliveries.ts';
import { paginate } from '../pages.ts';
import { routeHandler, tables } from '../route-handler.ts';
import { narrowToVisible } from '../visible-events.ts';
import * as routes from './routes.ts';

const log = eventLog(tables.outbox);

export const handler = routeHandler(routes.listEvents, (request) => {
  const { tenant, query, now, allows } = request;
  const { type, from, to, order = 'desc', include } = query;
  return paginate(
    routes.listEvents,
    request,
    async (page) => {
      const filter = { types: narrowToVisible(type, allows), from, to };
      if (filter.types?.length === 0) return { items: [] };
      const read = order === 'asc' ? log.listOldest : log.listNewest;
      const readPage = (limit: number) => read(tenant, { ...page, limit }, filter, now);
      if (include === undefined) {
        const { items, ...rest } = await readPage(page.limit);
        return { ...rest, items: items.map(toEventView) };
      }
      const { items, ...rest } = await withDeliveries(tenant, { limit: page.limit, now }, readPage);
      return {
        ...rest,
        items: items.map((event) => ({ ...toEventView(event), deliveries: event.deliveries })),
      };
    },
    [JSON.stringify([type?.toSorted(), from?.getTime(), to?.getTime(), order])],
  );
});
