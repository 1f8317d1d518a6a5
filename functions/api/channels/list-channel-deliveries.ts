import { refusals } from '../../http/problem.ts';
import { describeFilters, listDeliveriesPage } from '../deliveries.ts';
import { listHandler, mapPage } from '../pages.ts';
import { channels } from '../stores.ts';
import * as routes from './routes.ts';

/** A web widget has no deliveries. */
export const handler = listHandler(
  routes.listChannelDeliveries,
  async ({ tenant, params, query, now }, page) => {
    const channel = await channels.find(tenant.orgId, params.id);
    if (!channel) return refusals.notFound('channel');
    if (channel.kind !== 'http') return { items: [] };
    const listed = await listDeliveriesPage(channel, page, { tenant, query, now });
    return mapPage(listed, (delivery) => ({ ...delivery, channelId: delivery.webhookId }));
  },
  describeFilters,
);
