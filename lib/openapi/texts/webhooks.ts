import * as deliveries from '../../../functions/api/delivery-schemas.ts';
import * as webhooks from '../../../functions/api/webhooks/schemas.ts';
import { MAX_RECEIVER_URL_LENGTH } from '../../../functions/domain/receiver-url.ts';
import { MAX_SPEED, SIMULATED_FAILURES } from '../../../functions/domain/simulation.ts';
import * as examples from '../example-values.ts';
import { described, type OperationText } from '../operation-text.ts';

const registered = { ...examples.webhook, secret: examples.signingSecret };

/** What a receiver's failure is called in a program, and what is recorded of it. */
const failures = Object.entries(SIMULATED_FAILURES)
  .map(([word, error]) => `| \`${word}\` | does not get to answer: ${error} | \`${error}\` |`)
  .join('\n');

const PROGRAMS = `**In a sandbox** nothing is sent to the address. A simulated receiver takes the requests, and two parameters in the query of
\`url\` say what it does: \`https://hooks.example.com/in?simulate=503,timeout,200@3s&simulate-speed=60\`. Without them it answers 200 at
once.

\`simulate\` has one answer for each attempt of a delivery, separated by commas, 50 at most; the last one is for all attempts that follow. The
example answers the first attempt 503, lets the second one wait in vain, and answers the third one 200 after three seconds.

| Answer | What the receiver does | \`error\` of the attempt |
|---|---|---|
| \`200\` to \`299\` | takes the request | null |
| \`300\` to \`599\` | answers with this status, without a body | \`the receiver answered 503\`, for example |
| \`timeout\` | does not answer in time | \`timed out after 10 s\` |
${failures}
| any of these with \`@250ms\` or \`@3s\` | does it after so long, 60 seconds at most | from 10 seconds on as with \`timeout\` |

\`simulate-speed\` is a whole number from 1, the default, to ${MAX_SPEED.toLocaleString('en')}: the waits between attempts, and those of the receiver, pass so many times faster.
At ${MAX_SPEED} all eight attempts take some ten seconds instead of an hour. \`atRealSpeed\` of deliveries and attempts then tells when it would have been.

A parameter that says something else is refused, here and when the address is changed. Live both are parameters like any other: the
service ignores them and sends them to the receiver.`;

export const operations = {
  registerWebhook: {
    tag: 'Webhooks',
    atMost: { reads: 4, writes: 20 },
    description: `Registers the address of a receiver and the event types it wants. From the answer on, every such event is delivered to it,
signed with the \`secret\` that this answer shows. Keep the secret: no other answer has it.

Each registration makes an endpoint of its own, with its own secret, also when the address is known already. This is how an endpoint
that was disabled is replaced, and how a secret is: register again, then delete the old endpoint.

The receiver is not called by this operation. Send a test event (\`testWebhook\`) to see that it answers.

An organization may have 50 endpoints, and 10 of them at one host, over all ports and paths; disabled endpoints count. One more is
refused with \`LIMIT_EXCEEDED\`. If no answer arrives, repeat the request with the
same \`Idempotency-Key\`: it registers no second endpoint, and the answer has the secret again.

${PROGRAMS}`,
    body: { url: examples.webhook.url, events: examples.webhook.events },
    answer: 'The endpoint, with its signing secret.',
    data: registered,
    location: `/api/v1/webhooks/${examples.webhook.id}`,
  },
  listWebhooks: {
    tag: 'Webhooks',
    atMost: { reads: 40, writes: 3 },
    description:
      'The organization’s endpoints, newest first, disabled ones included. Never with their secrets.',
    answer: 'A page of endpoints.',
    data: [examples.webhook],
  },
  readWebhook: {
    tag: 'Webhooks',
    atMost: { reads: 5, writes: 3 },
    description:
      'One endpoint, never with its secret. `status` and `failing` tell how its receiver is doing, and how far it is from being disabled; `readWebhookStats` counts what became of its deliveries.',
    answer: 'The endpoint.',
    data: examples.failingWebhook,
  },
  updateWebhook: {
    tag: 'Webhooks',
    atMost: { reads: 6, writes: 10 },
    description: `Changes the address, the event types, or both; what is left out stays. A new list of event types replaces the old one and
holds for events that happen from then on; a new address also for the next attempts of deliveries in progress. In a sandbox it says what
the simulated receiver does (\`registerWebhook\`).

A new host may have 10 endpoints of the organization; one more is refused with \`LIMIT_EXCEEDED\`.

The secret, the status and the count of failures stay as they are: an endpoint that was disabled is not enabled by it. Register a new
one, or ask support.`,
    body: { events: ['conversation.created', 'conversation.resolved'] },
    answer: 'The endpoint as it is now.',
    data: { ...examples.webhook, events: ['conversation.created', 'conversation.resolved'] },
  },
  deleteWebhook: {
    tag: 'Webhooks',
    atMost: { reads: 4, writes: 20 },
    description: `Deletes an endpoint. Nothing is sent to it from then on: its deliveries that are not finished become \`skipped\`, and none of
its deliveries can be read any more.

An endpoint that does not exist, or not any more, is a success as well, so that a repetition is safe.`,
    answer: 'There is no such endpoint any more.',
  },
  testWebhook: {
    tag: 'Webhooks',
    atMost: { reads: 5, writes: 9 },
    description: `Sends one real \`webhook.test\` event to this endpoint, subscribed or not: signed, retried and recorded like every
other event. The answer comes before the delivery; read it (\`readDelivery\`) to see how the receiver answered, in a sandbox the
simulated one.

A test that fails counts as a failed delivery like any other. To an endpoint that is disabled nothing is sent: the delivery is
\`skipped\`.`,
    answer: 'The test event is written and will be delivered.',
    data: { eventId: examples.webhookTest.id, deliveryId: examples.webhookTest.deliveryId },
  },
} as const satisfies Record<string, OperationText>;

export const webhookFields = {
  id: 'Identifies the endpoint.',
  url: 'Where its deliveries go, as the service understood it: host names in lower case, for example.',
  events: 'The event types it receives. There is no wildcard.',
  status:
    '`active`, or `auto_disabled`: after 10 deliveries in a row ended `exhausted`, or by support. A disabled endpoint stays disabled: register it again, or ask support.',
  consecutiveFailures:
    'How many of its deliveries ended `exhausted` since one last ended `succeeded`. A failed attempt that is retried does not count.',
  failing:
    'While its last deliveries ended `exhausted` and it is not disabled yet: since when, and how many more will disable it. Null otherwise.',
  disabledAt: 'When it was disabled, UTC; null while it is `active`.',
  disabledReason:
    'Why it was disabled: `consecutive_failures`, 10 deliveries in a row ended `exhausted`. Null while it is `active`, and when support disabled it.',
  createdAt: 'When it was registered, UTC.',
};

export const failingFields = {
  since:
    'When the first of the present failures in a row was counted, UTC; null where the endpoint began to fail before this was recorded.',
  failuresUntilDisabled: 'How many more deliveries in a row that end `exhausted` disable the endpoint.',
};

const EVENTS_TEXT =
  'The event types to receive, each at most once. `webhook.test` cannot be subscribed to: the test operation sends it.';

export const RECEIVER_URL =
  'An `https` URL of at most 2,048 characters with a public host name or address; port 443 or from 1024 on; without credentials and fragment.';

/** The schemas of answers. */
export const answers = {
  Webhook: described(webhooks.Webhook, webhookFields),
  RegisteredWebhook: described(webhooks.RegisteredWebhook, {
    ...webhookFields,
    secret:
      'The signing secret of this endpoint: `whsec_` and the base64 of 32 bytes. Only this answer has it. There is no rotation: for a new secret register again and delete this endpoint.',
  }),
  Failing: described(deliveries.Failing, failingFields),
  TestEvent: described(webhooks.TestEvent, {
    eventId: 'The event that was written.',
    deliveryId:
      'Its delivery to this endpoint. It can be read within a moment of this answer, and is 404 until then.',
  }),
};

/** The schemas of requests. */
export const bodies = {
  RegisterWebhook: described(
    webhooks.RegisterWebhook,
    { url: RECEIVER_URL, events: EVENTS_TEXT },
    {
      url: { format: 'uri', maxLength: MAX_RECEIVER_URL_LENGTH },
      events: { uniqueItems: true },
    },
  ),
  UpdateWebhook: described(
    webhooks.UpdateWebhook,
    {
      url: `${RECEIVER_URL} Left out: stays as it is.`,
      events: `${EVENTS_TEXT} Left out: stay as they are.`,
    },
    {
      url: { format: 'uri', maxLength: MAX_RECEIVER_URL_LENGTH },
      events: { uniqueItems: true },
    },
  ),
};
