import type { Delivery, WebhookRequest } from '../domain/delivery.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import { deriveSigningSecret, sign } from '../domain/signature.ts';
import type { Tenant } from '../domain/tenant.ts';
import { type DeliveryFilter, filteredDeliveries } from '../store/delivery-queries.ts';
import type { Page, PageRequest } from '../store/pages.ts';
import { deliveries, sortHeaders, withDueTime } from './deliveries.ts';
import { tables } from './route-handler.ts';
import { signingKeys } from './signing.ts';

const filtered = filteredDeliveries(tables.deliveries);

interface DeliveryQuery extends DeliveryFilter {
  include?: 'request' | undefined;
}

/** Filters that a cursor is bound to. Empty without filters, so that cursors without filters stay valid. */
export function describeFilters({ status, eventType, from, to }: DeliveryFilter): string[] {
  const given = [status?.toSorted(), eventType?.toSorted(), from?.getTime(), to?.getTime()];
  return given.every((filter) => filter === undefined) ? [] : [JSON.stringify(given)];
}

/**
 * Lists the deliveries of a webhook endpoint or a channel. With `include`, each has the request of its last
 * attempt, signed again because receivers refuse old signatures. Only sandboxes store requests.
 */
export async function listDeliveriesPage(
  receiver: Pick<Endpoint, 'id' | 'keyVersion'>,
  page: PageRequest,
  { tenant, query, now }: { tenant: Tenant; query: DeliveryQuery; now: Date },
): Promise<Page<Delivery & { request?: WebhookRequest }>> {
  const found = await (describeFilters(query).length === 0
    ? deliveries.list(tenant, receiver.id, page)
    : filtered(tenant, receiver.id, page, query));
  const listed = { ...found, items: found.items.map(withDueTime) };
  if (query.include !== 'request' || !listed.items.some(getLastRequest)) return listed;
  const secret = await signingKeys((ring) => deriveSigningSecret(ring, receiver.keyVersion, receiver.id));
  return { ...listed, items: listed.items.map((delivery) => withRequest(delivery, secret, now)) };
}

/** The last attempt's request to a simulated receiver. */
const getLastRequest = ({ attemptLog }: Delivery): WebhookRequest | undefined => attemptLog.at(-1)?.request;

function withRequest(delivery: Delivery, secret: string, now: Date): Delivery & { request?: WebhookRequest } {
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
