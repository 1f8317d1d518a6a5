import { deriveDeliveryId, deriveEventId, EndpointId, type EventId } from '../../aws/ids.ts';
import type { Erasure } from '../../conversations/erasures.ts';
import { redeliveryRecords } from '../../delivery/redelivery.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import type { Tenant } from '../../tenancy/tenant.ts';
import { routeHandler, tables } from '../route-handler.ts';
import { deliveries, endpoints, erasures } from '../stores.ts';
import * as routes from './routes.ts';

const findRedeliveryRecords = redeliveryRecords(tables.service);

/** Endpoints deleted since the erasure that are read at most. */
const MAX_DELETED = 50;

/** Reads how the deliveries of the erasure's events ended, those of resent events included. */
async function readNotifications(tenant: Tenant, { conversationIds, requestedAt }: Erasure) {
  const existing = await endpoints.all(tenant.orgId);
  const deleted = await endpoints.deletedSince(tenant.orgId, requestedAt, MAX_DELETED);
  const receivers = [...new Set([...existing, ...deleted].map(({ id }) => EndpointId.parse(id)))];
  const conversationOf = new Map(
    conversationIds.map((id): [EventId, typeof id] => [
      deriveEventId('conversation.deleted', id, new Date(requestedAt)),
      id,
    ]),
  );
  const refs = [...conversationOf.keys()].flatMap((eventId) =>
    receivers.map((webhookId) => ({
      id: deriveDeliveryId(eventId, webhookId),
      webhookId,
      generation: tenant.generation,
    })),
  );
  const own = await deliveries.findAll(refs, { consistent: false });
  const unconfirmed = own.filter(({ status }) => status !== 'succeeded');
  const resent = await findRedeliveryRecords(
    tenant,
    unconfirmed.map(({ eventId, webhookId }) => ({ eventId, webhookId })),
  );
  const succeeded = new Set(
    resent.flatMap(({ eventId, webhookId, succeededId }) =>
      succeededId === undefined ? [] : [deriveDeliveryId(eventId, webhookId)],
    ),
  );
  return own.map(({ id: deliveryId, webhookId, eventId, status }) => ({
    conversationId: conversationOf.get(eventId),
    webhookId,
    deliveryId,
    status,
    confirmed: status === 'succeeded' || succeeded.has(deliveryId),
  }));
}

export const handler = routeHandler(routes.readErasure, async ({ tenant, params }) => {
  const erasure = await erasures.find(tenant, params.id);
  if (erasure === undefined) return refusals.notFound('erasure');
  return success({ ...erasure, notifications: await readNotifications(tenant, erasure) });
});
