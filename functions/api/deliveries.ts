import type * as z from 'zod/mini';
import type { Page, PageRequest } from '../aws/pages.ts';
import { findErasedConversations } from '../conversations/conversations.ts';
import { type Delivery, eraseAttempts, OPEN_STATUSES, type WebhookRequest } from '../delivery/delivery.ts';
import type { DeliveryFilter } from '../delivery/rows.ts';
import { deriveSigningSecret, sign } from '../delivery/signature.ts';
import { MAX_ATTEMPTS } from '../delivery/timing.ts';
import { refusals } from '../http/problem.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import type { ListDeliveriesQuery } from './fields.ts';
import { tables } from './route-handler.ts';
import { deliveries, endpoints, signingKeys } from './stores.ts';

/*
 * Deliveries of a webhook endpoint or a channel. The receiver is read first, to check its organization.
 */

const findErased = findErasedConversations(tables.service);

export async function findDelivery(receiver: Pick<Endpoint, 'id'>, tenant: Tenant, id: Delivery['id']) {
  const found = await deliveries.find({ id, webhookId: receiver.id, generation: tenant.generation });
  const [delivery] = found === undefined ? [] : await eraseTexts(tenant, [found]);
  return delivery ?? refusals.notFound('delivery');
}

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
export const toDeliveryView = (delivery: Delivery, now: Date): Delivery => ({
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

/** Reads a delivery with its webhook endpoint. */
export async function findEndpointDelivery(
  tenant: Tenant,
  { id, deliveryId }: { id: Endpoint['id']; deliveryId: Delivery['id'] },
) {
  const endpoint = await endpoints.find(tenant.orgId, id);
  if (!endpoint) return refusals.notFound('webhook endpoint');
  const delivery = await findDelivery(endpoint, tenant, deliveryId);
  return 'kind' in delivery ? delivery : { endpoint, delivery };
}

/** Filters that a cursor is bound to. Empty without filters, so that cursors without filters stay valid. */
export function describeFilters({ status, eventType, from, to }: DeliveryFilter): string[] {
  const given = [status?.toSorted(), eventType?.toSorted(), from?.getTime(), to?.getTime()];
  return given.every((filter) => filter === undefined) ? [] : [JSON.stringify(given)];
}

/**
 * Lists the deliveries of a webhook endpoint or a channel. With `include`, each has the response of its last
 * attempt, or the request, signed again because receivers refuse old signatures. Only sandboxes store
 * requests.
 */
export async function listDeliveriesPage(
  receiver: Pick<Endpoint, 'id' | 'keyVersion'>,
  page: PageRequest,
  { tenant, query, now }: { tenant: Tenant; query: z.output<typeof ListDeliveriesQuery>; now: Date },
): Promise<Page<Delivery>> {
  const deliveryPage = await deliveries.list(tenant, receiver.id, page, query);
  const { include } = query;
  const items = include === undefined ? deliveryPage.items : await eraseTexts(tenant, deliveryPage.items);
  const listed = { ...deliveryPage, items: items.map((delivery) => withDueTime(delivery, now)) };
  if (include === 'response') return { ...listed, items: listed.items.map(withLastResponse) };
  if (include !== 'request' || !listed.items.some(getLastRequest)) return listed;
  const secret = await signingKeys((ring) => deriveSigningSecret(ring, receiver.keyVersion, receiver.id));
  return { ...listed, items: listed.items.map((delivery) => withRequest(delivery, secret, now)) };
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
