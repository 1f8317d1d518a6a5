import type * as z from 'zod/mini';
import type { ReceiverId } from '../aws/ids.ts';
import { findErasedConversations } from '../conversations/conversations.ts';
import { type Delivery, eraseAttempts, OPEN_STATUSES, type WebhookRequest } from '../delivery/delivery.ts';
import type { DeliveryFilter } from '../delivery/rows.ts';
import { deriveSigningSecret, sign } from '../delivery/signature.ts';
import { MAX_ATTEMPTS } from '../delivery/timing.ts';
import { isProblem, refusals } from '../http/problem.ts';
import { success } from '../http/reply.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import type { ListDeliveriesQuery } from './fields.ts';
import { listHandler } from './pages.ts';
import type { listDeliveriesRoute, readDeliveryRoute } from './receiver-routes.ts';
import { findReceiver, isSentTo, nameReceiver } from './receivers.ts';
import { routeHandler, tables } from './route-handler.ts';
import { deliveries, signingKeys } from './stores.ts';

/*
 * Deliveries of a webhook endpoint or a channel. The receiver is read first, to check its organization.
 */

/** Reads a delivery with its receiver. A web widget has none. */
export async function findDelivery(
  tenant: Tenant,
  { id, deliveryId }: { id: ReceiverId; deliveryId: Delivery['id'] },
) {
  const receiver = await findReceiver(tenant.orgId, id);
  if (isProblem(receiver)) return receiver;
  const found = await deliveries.find({ id: deliveryId, webhookId: id, generation: tenant.generation });
  if (found === undefined || !isSentTo(receiver)) return refusals.notFound('delivery');
  const [delivery = found] = await eraseTexts(tenant, [found]);
  return { receiver, delivery };
}

const findErased = findErasedConversations(tables.service);

/** Erases what attempts keep of requests and responses about erased conversations, before the purge does. */
export async function eraseTexts(tenant: Tenant, all: readonly Delivery[]): Promise<Delivery[]> {
  const mayShow = all.filter(({ attemptLog }) =>
    attemptLog.some(({ request, response }) => request ?? response),
  );
  const erased = await findErased(
    tenant,
    mayShow.map(({ conversationId }) => conversationId),
  );
  return all.map((delivery) => (erased.has(delivery.conversationId) ? eraseAttempts(delivery) : delivery));
}

/**
 * Returns a delivery with the time at which its next attempt is due. It has none while an attempt is in
 * progress, and after the last one; the row of a new delivery does not say that it is due at once.
 */
export function withDueTime(delivery: Delivery, now: Date): Delivery {
  const { status, attempts, lease, createdAt, nextRetryAt = createdAt, ...others } = delivery;
  if (!OPEN_STATUSES.some((open) => open === status)) return delivery;
  const isInProgress = lease !== undefined && lease.until > now.getTime();
  if (!isInProgress && attempts < MAX_ATTEMPTS) return { ...delivery, nextRetryAt };
  const { nextRetryReason, ...rest } = others;
  return { ...rest, status, attempts, createdAt };
}

/** Returns a delivery with its attempts as the API shows it. */
const toDeliveryView = (delivery: Delivery, now: Date): Delivery => ({
  ...withDueTime(delivery, now),
  attemptLog: delivery.attemptLog.map(({ request, ...attempt }) => ({
    ...attempt,
    ...(request && { request: sortHeaders(request) }),
  })),
});

/** Sorts header fields, because DynamoDB returns maps in no order. */
const sortHeaders = (request: WebhookRequest): WebhookRequest => ({
  ...request,
  headers: Object.fromEntries(Object.entries(request.headers).sort(([a], [b]) => (a < b ? -1 : 1))),
});

/** Filters that a cursor is bound to. Empty without filters, so that cursors without filters stay valid. */
export function describeFilters({ status, eventType, from, to }: DeliveryFilter): string[] {
  const given = [status?.toSorted(), eventType?.toSorted(), from?.getTime(), to?.getTime()];
  return given.every((filter) => filter === undefined) ? [] : [JSON.stringify(given)];
}

/** Lists the deliveries of a webhook endpoint or a channel. A web widget has none. */
export const listDeliveriesHandler = (route: ReturnType<typeof listDeliveriesRoute>) =>
  listHandler(
    route,
    async ({ tenant, params: { id }, query, now }, page) => {
      const receiver = await findReceiver(tenant.orgId, id);
      if (isProblem(receiver)) return receiver;
      if (!isSentTo(receiver)) return { items: [] };
      const listed = await deliveries.list(tenant, id, page, query);
      const shown = await withIncluded(listed.items, receiver, { tenant, query, now });
      return { ...listed, items: shown.map((delivery) => nameReceiver(withDueTime(delivery, now))) };
    },
    describeFilters,
  );

export const readDeliveryHandler = (route: ReturnType<typeof readDeliveryRoute>) =>
  routeHandler(route, async ({ tenant, params, now }) => {
    const result = await findDelivery(tenant, params);
    return isProblem(result) ? result : success(nameReceiver(toDeliveryView(result.delivery, now)));
  });

/**
 * With `include`, each delivery has the response of its last attempt, or the request, signed again because
 * receivers refuse old signatures. Only sandboxes store requests.
 */
async function withIncluded(
  all: readonly Delivery[],
  { id, keyVersion }: Pick<Endpoint, 'id' | 'keyVersion'>,
  {
    tenant,
    query: { include },
    now,
  }: { tenant: Tenant; query: z.output<typeof ListDeliveriesQuery>; now: Date },
): Promise<readonly Delivery[]> {
  if (include === undefined) return all;
  const listed = await eraseTexts(tenant, all);
  if (include === 'response') return listed.map(withLastResponse);
  if (!listed.some(getLastRequest)) return listed;
  const secret = await signingKeys((ring) => deriveSigningSecret(ring, keyVersion, id));
  return listed.map((delivery) => withRequest(delivery, secret, now));
}

/** The last attempt's request to a simulated receiver. */
const getLastRequest = ({ attemptLog }: Delivery) => attemptLog.at(-1)?.request;

/** Adds the beginning of the body with which the receiver answered the last attempt, if that failed. */
const withLastResponse = (delivery: Delivery) => ({
  ...delivery,
  lastResponse: delivery.attemptLog.at(-1)?.response,
});

function withRequest(delivery: Delivery, secret: string, now: Date) {
  const sent = getLastRequest(delivery);
  if (sent === undefined) return delivery;
  const timestamp = Math.floor(now.getTime() / 1000);
  const headers = {
    ...sent.headers,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign(secret, delivery.eventId, timestamp, Buffer.from(sent.body, 'utf8')),
  };
  return { ...delivery, request: sortHeaders({ ...sent, headers }) };
}
