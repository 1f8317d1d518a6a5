import type { AttemptResult, Claimed } from '../domain/delivery.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import type { OutboxEvent } from '../domain/events.ts';
import type { Gate } from '../domain/gate.ts';
import { SLOW_AFTER_SECONDS } from '../domain/lanes.ts';
import { signature, signingSecret } from '../domain/signature.ts';
import type { KeyringSource } from './keyrings.ts';
import type { OutboundClient, OutboundRequest, OutboundResult } from './outbound/client.ts';
import type { SimulatedReceiver } from './simulated-receiver.ts';

const USER_AGENT = 'ConversationService-Webhooks/1.0';

type Outcome = Omit<AttemptResult, 'startedAt' | 'endedAt'>;

/**
 * Sends one attempt as Standard Webhooks asks: the event's bytes as they were written, signed with this attempt's time
 * (decisions.md, Deliveries). What is of a sandbox goes the same way as far as the gate, and from there to a simulated receiver.
 */
export function webhookSender({
  gate,
  outbound,
  simulated,
  signingKeys,
  now,
}: {
  gate: Gate;
  outbound: Pick<OutboundClient, 'post'>;
  simulated: SimulatedReceiver;
  signingKeys: KeyringSource;
  now: () => Date;
}) {
  return async (
    delivery: Claimed,
    endpoint: Endpoint,
    event: OutboxEvent,
    onSlow: () => void,
  ): Promise<Outcome> => {
    const secret = await signingKeys((ring) => signingSecret(ring, endpoint.keyVersion, endpoint.id));
    const body = Buffer.from(event.body, 'utf8');
    const timestamp = Math.floor(now().getTime() / 1000);
    const request: OutboundRequest = {
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
    };
    const slow = setTimeout(onSlow, SLOW_AFTER_SECONDS * 1000);
    const sent = gate(delivery.orgId, {
      live: async (permit) => outcomeOf(await outbound.post(request, permit)),
      sandbox: async () => {
        const { result, ...exchange } = await simulated.post(request, delivery.attempts);
        return { ...outcomeOf(result), simulated: exchange };
      },
    });
    return sent.finally(() => clearTimeout(slow));
  };
}

function outcomeOf(result: OutboundResult): Outcome {
  if (result.kind === 'failed') return { error: result.error };
  if (result.status >= 200 && result.status < 300) return { status: result.status };
  return { status: result.status, error: `the receiver answered ${result.status}`, response: result.body };
}
