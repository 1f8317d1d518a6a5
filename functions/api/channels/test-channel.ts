import { deriveDeliveryId } from '../../aws/ids.ts';
import { buildEvent } from '../../events/events.ts';
import { isProblem, refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { findReceiver, isSentTo } from '../receivers.ts';
import { routeHandler } from '../route-handler.ts';
import { outbox } from '../stores.ts';
import * as routes from './routes.ts';

/** Writes a test for this channel, which is delivered like a message. */
export const handler = routeHandler(
  routes.testChannel,
  async ({ tenant, params: { id }, now, traceId, effect }) => {
    const channel = await findReceiver(tenant.orgId, id);
    if (isProblem(channel)) return channel;
    if (!isSentTo(channel)) return refusals.noReceiver;
    if (channel.status !== 'active') return refusals.inactiveChannel[channel.status];
    const event = buildEvent('channel.test', { channelId: id }, { tenant, now, traceId, onlyTo: id });
    return effect(success({ eventId: event.id, deliveryId: deriveDeliveryId(event.id, id) }), [
      outbox.append(event),
    ]);
  },
);
