import * as cast from '../cast.ts';
import type { OperationText } from '../operation-text.ts';

const registered = { ...cast.webhook, secret: cast.signingSecret };

export const WEBHOOK_TEXTS = {
  registerWebhook: {
    tag: 'Webhooks',
    description: `Registers the address of a receiver and the event types it wants. From the answer on, every such event is delivered to it,
signed with the \`secret\` that this answer shows. Keep the secret: no other answer has it.

Each registration makes an endpoint of its own, with its own secret, also when the address is known already. This is how an endpoint
that was disabled is replaced, and how a secret is: register again, then delete the old endpoint.

The receiver is not called by this operation. Send a test event (\`testWebhook\`) to see that it answers.

An organization may have 50 endpoints; one more is refused with \`LIMIT_EXCEEDED\`. If no answer arrives, repeat the request with the
same \`Idempotency-Key\`: it registers no second endpoint, and the answer has the secret again.`,
    body: { url: cast.webhook.url, events: cast.webhook.events },
    answer: 'The endpoint, with its signing secret.',
    data: registered,
    location: `/api/v1/webhooks/${cast.webhook.id}`,
  },
  listWebhooks: {
    tag: 'Webhooks',
    description:
      'The organization’s endpoints, newest first, disabled ones included. Never with their secrets.',
    answer: 'A page of endpoints.',
    data: [cast.webhook],
  },
  readWebhook: {
    tag: 'Webhooks',
    description:
      'One endpoint, never with its secret. `status` and `failing` tell how its receiver is doing, and how far it is from being disabled; `readWebhookStats` counts what became of its deliveries.',
    answer: 'The endpoint.',
    data: cast.failingWebhook,
  },
  updateWebhook: {
    tag: 'Webhooks',
    description: `Changes the address, the event types, or both; what is left out stays. A new list of event types replaces the old one and
holds for events that happen from then on; a new address also for the next attempts of deliveries under way.

The secret, the status and the count of failures stay as they are: an endpoint that was disabled cannot be enabled again. Register a new
one.`,
    body: { events: ['conversation.created', 'conversation.resolved'] },
    answer: 'The endpoint as it is now.',
    data: { ...cast.webhook, events: ['conversation.created', 'conversation.resolved'] },
  },
  deleteWebhook: {
    tag: 'Webhooks',
    description: `Deletes an endpoint. Nothing is sent to it from then on: its deliveries that are not finished become \`skipped\`, and none of
its deliveries can be read any more.

An endpoint that does not exist, or not any more, is a success as well, so that a repetition is safe.`,
    answer: 'There is no such endpoint any more.',
  },
  testWebhook: {
    tag: 'Webhooks',
    description: `Sends one real \`webhook.test\` event to this endpoint, whatever it subscribes to: signed, retried and recorded like every
other event. The answer comes before the delivery; read it (\`readDelivery\`) to see how the receiver answered.

A test that fails counts as a failed delivery like any other. To an endpoint that is disabled nothing is sent: the delivery is
\`skipped\`.`,
    answer: 'The test event is written and will be delivered.',
    data: { eventId: cast.webhookTest.id, deliveryId: cast.webhookTest.deliveryId },
  },
} as const satisfies Record<string, OperationText>;
