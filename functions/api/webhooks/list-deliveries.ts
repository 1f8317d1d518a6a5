import type { Delivery, WebhookRequest } from '../../domain/delivery.ts';
import { notFound } from '../../domain/problem.ts';
import { signature, signingSecret } from '../../domain/signature.ts';
import { endpoint } from '../endpoint.ts';
import { paginated } from '../pages.ts';
import { deliveries, endpoints, inOrder } from './deliveries.ts';
import * as routes from './routes.ts';
import { signingKeys } from './signing.ts';

/**
 * With `include=request` each delivery comes with the request that a receiver would get if it were sent now: receivers refuse signatures that are
 * minutes old. There are such requests in sandboxes alone, where nothing else sends them; live ones are not kept.
 */
export const handler = endpoint(routes.listDeliveries, (request) =>
  paginated(routes.listDeliveries, request, async (page) => {
    const { tenant, params, query, now } = request;
    const found = await endpoints.find(tenant.orgId, params.id);
    if (!found) return notFound('webhook endpoint');
    const listed = await deliveries.list(tenant, found.id, page);
    if (query.include !== 'request' || !listed.items.some(sentOf)) return listed;
    const secret = await signingKeys((ring) => signingSecret(ring, found.keyVersion, found.id));
    return { ...listed, items: listed.items.map((delivery) => withRequest(delivery, secret, now)) };
  }),
);

/** What its last attempt sent to a simulated receiver. */
const sentOf = ({ attemptLog }: Delivery): WebhookRequest | undefined => attemptLog.at(-1)?.request;

function withRequest(delivery: Delivery, secret: string, now: Date): Delivery & { request?: WebhookRequest } {
  const sent = sentOf(delivery);
  if (sent === undefined) return delivery;
  const timestamp = Math.floor(now.getTime() / 1000);
  const headers = {
    ...sent.headers,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature(secret, delivery.id, timestamp, Buffer.from(sent.body, 'utf8')),
  };
  return { ...delivery, request: inOrder({ ...sent, headers }) };
}
