import type { AttemptResult, Claimed } from '../domain/delivery.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import type { OutboxEvent } from '../domain/events.ts';
import { SLOW_AFTER_SECONDS } from '../domain/lanes.ts';
import { signature, signingSecret } from '../domain/signature.ts';
import type { KeyringSource } from './keyrings.ts';
import type { OutboundRequest, OutboundResult } from './outbound/client.ts';

const USER_AGENT = 'ConversationService-Webhooks/1.0';

/**
 * Sends one attempt as Standard Webhooks asks: the event's bytes as they were written, signed with this attempt's time
 * (decisions.md, Deliveries).
 */
export function webhookSender({
  outbound,
  signingKeys,
  now,
}: {
  outbound: { post(request: OutboundRequest): Promise<OutboundResult> };
  signingKeys: KeyringSource;
  now: () => Date;
}) {
  return async (
    delivery: Claimed,
    endpoint: Endpoint,
    event: OutboxEvent,
    onSlow: () => void,
  ): Promise<Omit<AttemptResult, 'startedAt' | 'endedAt'>> => {
    const secret = await signingKeys((ring) => signingSecret(ring, endpoint.keyVersion, endpoint.id));
    const body = Buffer.from(event.body, 'utf8');
    const timestamp = Math.floor(now().getTime() / 1000);
    const slow = setTimeout(onSlow, SLOW_AFTER_SECONDS * 1000);
    const posted = outbound.post({
      url: new URL(endpoint.url),
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': USER_AGENT,
        'webhook-id': delivery.id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signature(secret, delivery.id, timestamp, body),
        'webhook-event-id': event.id,
        'webhook-attempt': String(delivery.attempts),
      },
    });
    const result = await posted.finally(() => clearTimeout(slow));
    if (result.kind === 'failed') return { error: result.error };
    if (result.status >= 200 && result.status < 300) return { status: result.status };
    return { status: result.status, error: `the receiver answered ${result.status}`, response: result.body };
  };
}
