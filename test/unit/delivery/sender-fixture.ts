import type { ClaimedDelivery } from '../../../functions/delivery/delivery.ts';
import type { OutboundRequest, OutboundResult } from '../../../functions/delivery/outbound/client.ts';
import { simulatedReceiver, webhookSender } from '../../../functions/delivery/webhook-sender.ts';
import type { OutboxEvent } from '../../../functions/events/events.ts';
import type { Endpoint } from '../../../functions/receivers/endpoint.ts';
import { gate, requirePermit } from '../../../functions/tenancy/gate.ts';
import { FIRST_SANDBOX_GENERATION } from '../../../functions/tenancy/tenant.ts';
import { aDelivery, aKeyring, anEndpoint, anEvent, NOW, seconds } from '../../builders.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';

export const ring = aKeyring();
export const endpoint = anEndpoint();
export const event = anEvent();
export const claimed = (attempts = 1): ClaimedDelivery => ({
  ...aDelivery({ orgId: endpoint.orgId, webhookId: endpoint.id, eventId: event.id, attempts }),
  lease: { token: 'token', until: NOW.getTime() + seconds(30) },
});
/** A sandbox's endpoint and delivery. */
export const claimedInSandbox = (attempts = 1): ClaimedDelivery => ({
  ...claimed(attempts),
  generation: FIRST_SANDBOX_GENERATION,
});

export const answered = (status: number, body = ''): OutboundResult => ({
  kind: 'answered',
  status,
  body,
  durationMs: 5,
});

export const TIMEOUT_MS = 10_000;

/** A sender whose real requests are answered by the test, and whose simulated receiver does not wait. */
export function aSender({
  result = answered(200),
  now = NOW,
  written,
}: {
  result?: OutboundResult | Promise<OutboundResult>;
  now?: Date;
  /** Called when the request is written; never by default. */
  written?: Promise<void>;
} = {}) {
  const states = memoryOrganizationStates();
  const requests: OutboundRequest[] = [];
  const simulations: OutboundRequest[] = [];
  const receiver = simulatedReceiver({
    policy: { loopback: 'refuse' },
    timeoutMs: TIMEOUT_MS,
    wait: async () => undefined,
  });
  const simulated: ReturnType<typeof simulatedReceiver> = {
    post(request, attempt) {
      simulations.push(request);
      return receiver.post(request, attempt);
    },
  };
  const prepare = webhookSender({
    gate: gate(states.of),
    refreshBlocks: async () => undefined,
    outbound: {
      post: async (request, permit, onWritten) => {
        requirePermit(permit);
        requests.push(request);
        void written?.then(onWritten);
        return result;
      },
    },
    simulated,
    signingKeys: async (use) => use(ring),
    userAgent: 'Example/1.0',
    now: () => now,
  });
  const send = async (
    delivery: ClaimedDelivery,
    to: Endpoint,
    ...attempt: [OutboxEvent, onSlow: () => void]
  ) => (await prepare(delivery, to))(delivery, ...attempt);
  const sent = () => {
    const [request] = requests;
    if (request === undefined || requests.length > 1)
      throw new Error(`${requests.length} requests were sent`);
    return { ...request, text: Buffer.from(request.body).toString('utf8') };
  };
  return { send, states, requests, simulations, sent };
}

export const ignore = () => undefined;
