import { refusals } from '../../http/problem.ts';
import { channelStore } from '../../receivers/channels.ts';
import { describeFilters, listDeliveriesPage } from '../listed-deliveries.ts';
import { paginate } from '../pages.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const channels = channelStore(tables.service);

/** A web widget has no deliveries. */
export const handler = routeHandler(routes.listChannelDeliveries, (request) =>
  paginate(
    routes.listChannelDeliveries,
    request,
    async (page) => {
      const { tenant, params, query, now } = request;
      const found = await channels.find(tenant.orgId, params.id);
      if (!found) return refusals.notFound('channel');
      if (found.kind !== 'http') return { items: [] };
      const { items, ...rest } = await listDeliveriesPage(found, page, { tenant, query, now });
      return { ...rest, items: items.map((delivery) => ({ ...delivery, channelId: delivery.webhookId })) };
    },
    describeFilters(request.query),
  ),
);
