import type { Page, PageRequest } from '../aws/pages.ts';
import type { DeliveryFilter } from '../delivery/deliveries.ts';
import type { AttemptRecord, Delivery, WebhookRequest } from '../delivery/delivery.ts';
import { deriveSigningSecret, sign } from '../delivery/signature.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { deliveries, sortHeaders, withDueTime } from './deliveries.ts';

import { signingKeys } from './signing.ts';

interface DeliveryQuery extends DeliveryFilter {
  include?: 'request' | 'response' | undefined;
}

/** Filters that a cursor is bound to. Empty without filters, so that cursors without filters stay valid. */
export function describeFilters({ status, eventType, from, to }: DeliveryFilter): string[] {
  const given = [status?.toSorted(), eventType?.toSorted(), from?.getTime(), to?.getTime()];
  return given.every((filter) => filter === undefined) ? [] : [JSON.stringify(given)];
}

/** A delivery with what `include` adds. */
type Listed = Delivery & { request?: WebhookRequest; lastResponse?: string };

/**
 * Lists the deliveries of a webhook endpoint or a channel. With `include`, each has the response of its last
 * attempt, or the request, signed again because receivers refuse old signatures. Only sandboxes store
 * requests.
 */
export async function listDeliveriesPage(
  receiver: Pick<Endpoint, 'id' | 'keyVersion'>,
  page: PageRequest,
  { tenant, query, now }: { tenant: Tenant; query: DeliveryQuery; now: Date },
): Promise<Page<Listed>> {
  const found = await deliveries.list(tenant, receiver.id, page, query);
  const listed = { ...found, items: found.items.map((delivery) => withDueTime(delivery, now)) };
  if (query.include === 'response') return { ...listed, items: listed.items.map(withResponse) };
  if (query.include !== 'request' || !listed.items.some(getLastRequest)) return listed;
  const secret = await signingKeys((ring) => deriveSigningSecret(ring, receiver.keyVersion, receiver.id));
  return { ...listed, items: listed.items.map((delivery) => withRequest(delivery, secret, now)) };
}

const getLastAttempt = ({ attemptLog }: Delivery): AttemptRecord | undefined => attemptLog.at(-1);

/** The last attempt's request to a simulated receiver. */
const getLastRequest = (delivery: Delivery): WebhookRequest | undefined => getLastAttempt(delivery)?.request;

/** Adds the beginning of the body with which the receiver answered the last attempt, if that failed. */
function withResponse(delivery: Delivery): Listed {
  const response = getLastAttempt(delivery)?.response;
  return response === undefined ? delivery : { ...delivery, lastResponse: response };
}

function withRequest(delivery: Delivery, secret: string, now: Date): Listed {
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
