import type { AttemptResult, Claimed } from '../domain/delivery.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import type { OutboxEvent } from '../domain/events.ts';
import type { Gate } from '../domain/gate.ts';
import { SLOW_AFTER_SECONDS, SLOW_TO_CONNECT_SECONDS } from '../domain/lanes.ts';
import { signature, signingSecret } from '../domain/signature.ts';
import type { KeyringSource } from './keyrings.ts';
import type { OutboundClient, OutboundRequest, OutboundResult } from './outbound/client.ts';
import type { SimulatedReceiver } from './simulated-receiver.ts';

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
  userAgent,
  now,
}: {
  gate: Gate;
  outbound: Pick<OutboundClient, 'post'>;
  simulated: SimulatedReceiver;
  signingKeys: KeyringSource;
  userAgent: string;
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
        'user-agent': userAgent,
        'webhook-id': delivery.id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signature(secret, delivery.id, timestamp, body),
        'webhook-event-id': event.id,
        'webhook-attempt': String(delivery.attempts),
        'webhook-endpoint-id': endpoint.id,
      },
    };
    const slow = timer(onSlow);
    slow.set(SLOW_TO_CONNECT_SECONDS);
    const onWritten = () => slow.set(SLOW_AFTER_SECONDS);
    const sent = gate(delivery.orgId, {
      live: async (permit) => outcomeOf(await outbound.post(request, permit, onWritten)),
      sandbox: async () => {
        onWritten();
        const { result, ...exchange } = await simulated.post(request, delivery.attempts);
        return { ...outcomeOf(result), simulated: exchange };
      },
    });
    return sent.finally(slow.cancel);
  };
}

/** Calls back once, after the time that was set last. */
function timer(callback: () => void) {
  let pending: NodeJS.Timeout | undefined;
  let isOver = false;
  const cancel = () => {
    isOver = true;
    clearTimeout(pending);
  };
  return {
    set(seconds: number): void {
      clearTimeout(pending);
      if (isOver) return;
      pending = setTimeout(() => {
        cancel();
        callback();
      }, seconds * 1000);
    },
    cancel,
  };
}

function outcomeOf(result: OutboundResult): Outcome {
  if (result.kind === 'failed') return { error: result.error };
  if (result.status >= 200 && result.status < 300) return { status: result.status };
  return { status: result.status, error: `the receiver answered ${result.status}`, response: result.body };
}
