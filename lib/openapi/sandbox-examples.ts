import { Attempt } from '../../functions/api/fields.ts';
import { deriveDeliveryId } from '../../functions/aws/ids.ts';
import type { AttemptOutcome, AttemptResult, WebhookRequest } from '../../functions/delivery/delivery.ts';
import { computeSettlement } from '../../functions/delivery/settle.ts';
import { sign } from '../../functions/delivery/signature.ts';
import { getRetryPolicy } from '../../functions/delivery/simulation.ts';
import { DEFAULT_RETRY_POLICY } from '../../functions/delivery/timing.ts';
import { EVENT_CATALOGUE } from '../../functions/events/events.ts';
import { FIRST_SANDBOX_GENERATION } from '../../functions/tenancy/tenant.ts';
import * as examples from './example-values.ts';

/** A sandbox endpoint with a simulated receiver, and one delivery to it; derived values are derived here. */

/** Answers the first attempt 503, the second one 200 after a quarter of a second, a hundred times faster. */
export const simulatedWebhook = {
  ...examples.webhook,
  id: examples.exampleId('whk', '2026-11-20T09:28:40.000Z'),
  createdAt: '2026-11-20T09:28:40.000Z',
  url: `${examples.webhook.url}?simulate=503,200@250ms&simulate-speed=100`,
} as const;

const policy = getRetryPolicy(
  DEFAULT_RETRY_POLICY,
  { generation: FIRST_SANDBOX_GENERATION },
  simulatedWebhook.url,
);

const occurredAt = '2026-11-20T09:29:02.140Z';
const eventId = examples.exampleId('evt', occurredAt);
const id = deriveDeliveryId(eventId, simulatedWebhook.id);
const type = 'conversation.created';

const body = JSON.stringify({
  type,
  schemaVersion: EVENT_CATALOGUE[type].schemaVersion,
  orgId: examples.sandbox.sandboxOrganizationId,
  createdAt: occurredAt,
  data: {
    conversationId: examples.exampleId('cnv', occurredAt),
    channelId: examples.conversation.channelId,
    externalUserId: examples.conversation.externalUserId,
  },
});

function requestOf(attempt: number, at: Date): WebhookRequest {
  const timestamp = Math.floor(at.getTime() / 1000);
  const bytes = Buffer.from(body, 'utf8');
  const headers = {
    host: new URL(simulatedWebhook.url).host,
    'content-type': 'application/json',
    'user-agent': 'ConversationService-Webhooks/1.0 (+https://api.example.com/api/docs)',
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign(examples.signingSecret, eventId, timestamp, bytes),
    'webhook-delivery-id': id,
    'webhook-attempt': String(attempt),
    'webhook-endpoint-id': simulatedWebhook.id,
    'accept-encoding': 'identity',
    'content-length': String(bytes.length),
  };
  return { method: 'POST', url: simulatedWebhook.url, headers, body };
}

function attempt(number: number, at: string, durationMs: number, answer: AttemptOutcome) {
  const startedAt = new Date(at);
  const endedAt = new Date(startedAt.getTime() + durationMs);
  const result: AttemptResult = { startedAt, endedAt, simulated: requestOf(number, startedAt), ...answer };
  return computeSettlement(number, result, policy, { from: 'fresh', to: 'fresh', crowded: false });
}

const error = 'the receiver answered 503';
const errorCode = 'http_status';
const first = attempt(1, '2026-11-20T09:29:02.391Z', 1, { status: 503, error, errorCode });
// Queues count whole seconds.
const second = attempt(2, '2026-11-20T09:29:03.407Z', 3, { status: 200 });

const simulatedDelivery = {
  id,
  webhookId: simulatedWebhook.id,
  eventId,
  eventType: type,
  status: second.kind,
  attempts: 2,
  nextRetryAt: null,
  nextRetryReason: null,
  terminalAt: second.at.toISOString(),
  terminalReason: 'terminalReason' in second ? second.terminalReason : null,
  lastError: error,
  lastErrorCode: errorCode,
  lastResponseStatus: 200,
  redeliveryOf: null,
  createdAt: '2026-11-20T09:29:02.263Z',
};

export const simulatedDeliveryWithAttempts = {
  ...simulatedDelivery,
  attemptLog: [first, second].map((settlement) => Attempt.parse(settlement.attempt)),
};

/** The same, listed later with the request that was asked for. */
export const forwardedDelivery = {
  ...simulatedDelivery,
  request: requestOf(2, new Date('2026-11-20T11:45:30.000Z')),
};
