import { deriveDeliveryId } from '../../aws/ids.ts';
import { buildEvent, buildExampleEvent, isFor } from '../../events/events.ts';
import { invalid, refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { routeHandler } from '../route-handler.ts';
import { endpoints, outbox } from '../stores.ts';
import * as routes from './routes.ts';

/** Writes a test for this endpoint only, which is delivered like any other event. */
export const handler = routeHandler(
  routes.testWebhook,
  async ({ tenant, params: { id }, body: { type }, now, traceId, effect }) => {
    const endpoint = await endpoints.find(tenant.orgId, id);
    if (!endpoint) return refusals.notFound('webhook endpoint');
    if (endpoint.status !== 'active') return refusals.inactiveEndpoint[endpoint.status];
    const context = { tenant, now, traceId };
    const event =
      type === 'webhook.test'
        ? buildEvent(type, { webhookId: id }, { ...context, onlyTo: id })
        : buildExampleEvent(type, id, { ...context, filter: endpoint.filter });
    if (!isFor(event, endpoint))
      return invalid({
        field: 'type',
        code: 'not_allowed',
        message: "must be one of the endpoint's events, or webhook.test",
      });
    return effect(success({ eventId: event.id, deliveryId: deriveDeliveryId(event.id, id) }), [
      outbox.append(event),
    ]);
  },
);
