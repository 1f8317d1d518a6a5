import * as deliveries from '../../../functions/api/fields.ts';
import { TestEvent } from '../../../functions/api/receiver-routes.ts';
import * as webhooks from '../../../functions/api/webhooks/routes.ts';
import { MAX_SPEED, SIMULATED_FAILURES } from '../../../functions/delivery/simulation.ts';
import { MAX_DESCRIPTION_LENGTH } from '../../../functions/receivers/endpoint.ts';
import { MAX_RECEIVER_URL_LENGTH } from '../../../functions/receivers/url-text.ts';
import * as examples from '../example-values.ts';
import { described, type OperationText } from '../operation-text.ts';

const registered = {
  ...examples.webhook,
  predecessor: examples.predecessor,
  redelivery: null,
  secret: examples.signingSecret,
};

const failures = Object.entries(SIMULATED_FAILURES)
  .map(([word, { error }]) => `| \`${word}\` | fails before it responds | \`${error}\` |`)
  .join('\n');

const PROGRAMS = `**In a sandbox**, nothing is sent to the URL. A simulated receiver takes its place, set by two
query parameters of \`url\`: \`https://hooks.example.com/in?simulate=503,timeout,200@3s&simulate-speed=60\`. The
default is an immediate 200.

\`simulate\` lists up to 50 responses, separated by commas, one for each attempt of a delivery; the last one
repeats. In the example, the first attempt gets a 503, the second times out, and the third gets a 200 after 3 s.

| Response | Receiver | \`error\` of the attempt |
|---|---|---|
| \`200\` to \`299\` | accepts the request | null |
| \`300\` to \`599\` | responds with this status and no body | for example \`the receiver answered 503\` |
| \`timeout\` | does not respond in time | \`timed out after 10 s\` |
${failures}
| any of these with \`@250ms\` or \`@3s\` | does so after this delay, at most 60 seconds | from 10 seconds on as for \`timeout\` |

\`simulate-speed\` is an integer from 1, the default, to ${MAX_SPEED.toLocaleString('en')}. It divides the waits
between attempts and the delays of the receiver: at ${MAX_SPEED}, all eight attempts take about ten seconds
instead of an hour. The times of a delivery are those at which things happen.

Invalid values are rejected. Live, both are ordinary parameters that are sent to the receiver.`;

export const operations = {
  registerWebhook: {
    tag: 'Webhooks',
    summary: 'Register a webhook endpoint',
    mostTokens: 4,
    description: `Registers a receiver URL and its event types. Events are signed with the \`secret\` in this
response; store it, because no other operation returns it.

Each registration creates a new endpoint with its own secret, even for a URL that is already registered. To
rotate a secret or replace a disabled endpoint, register again and delete the old endpoint. If an endpoint with
this URL was disabled, \`predecessor\` names it: with \`recover: "predecessor"\` a test is sent, and once that has
succeeded, a redelivery job sends what the predecessor missed, from two hours before its first failure on, or
from where it was to recover events itself (\`redelivery\`; \`readRedelivery\` follows it). If the test fails, the
job stops with \`test_failed\`. Without \`recover\` the receiver is not called; check it with \`testWebhook\`.

With \`filter\`, only those events of the types are sent whose value is in each given list. An event type without
the field passes that list.

With \`maxPerSecond\`, the receiver gets at most so many attempts per second: retries, tests and resent deliveries
included. Others wait, up to 3 days, and keep their order roughly. Each second is within 10 % of the limit as
long as deliveries wait.

An organization can have 50 endpoints, and 10 of them at one host (all ports and paths). Disabled endpoints
count. Beyond that the request fails with \`LIMIT_EXCEEDED\`. If the response is lost, repeat the request with
the same \`Idempotency-Key\`: it returns the same endpoint and secret, or \`GONE\` if the endpoint was deleted since.

${PROGRAMS}`,
    body: {
      url: examples.webhook.url,
      events: examples.webhook.events,
      description: examples.webhook.description,
      maxPerSecond: 50,
    },
    answer: 'The endpoint with its signing secret.',
    data: registered,
    location: `/api/v1/webhooks/${examples.webhook.id}`,
  },
  listWebhooks: {
    tag: 'Webhooks',
    summary: 'List webhook endpoints',
    description: `Returns the organization’s endpoints, newest first, including disabled ones. Secrets are not
included.`,
    answer: 'A page of endpoints.',
    data: [examples.webhook],
  },
  readWebhook: {
    tag: 'Webhooks',
    summary: 'Read a webhook endpoint',
    description: `Returns an endpoint without its secret. \`status\` and \`failing\` show whether its deliveries
fail; \`readWebhookStats\` counts them.`,
    answer: 'The endpoint.',
    data: examples.failingWebhook,
  },
  updateWebhook: {
    tag: 'Webhooks',
    summary: 'Update a webhook endpoint',
    mostTokens: 2,
    description: `Changes the URL, the event types, the filter, the description or the limit, and pauses or resumes the endpoint. Omitted fields keep their values.
New event types replace the old ones and apply to later events. Deliveries in progress of a removed type end as
\`skipped\`; a new URL applies to their next attempts. A lower limit applies at once, and a higher one
within an hour. In a sandbox, the URL also sets the simulated receiver (\`registerWebhook\`).

\`paused: true\` pauses an endpoint, for example for a planned outage: what is for it becomes \`skipped\` with
\`endpoint_paused\`, nothing counts as a failure, and a running redelivery job stops. \`paused: false\` resumes it
and starts a redelivery job for what was skipped (\`redelivery\`), which begins after 90 seconds. Fails with
\`CONFLICT\` if the endpoint is disabled, or if a job that would hinder the new one is still running.

Fails with \`LIMIT_EXCEEDED\` if the organization already has 10 endpoints at the new host.

The secret, status and failure count stay the same: a disabled endpoint stays disabled. Register a new one, or
contact support.`,
    body: { events: ['conversation.created', 'conversation.resolved'] },
    answer: 'The updated endpoint.',
    data: {
      ...examples.webhook,
      events: ['conversation.created', 'conversation.resolved'],
      redelivery: null,
    },
  },
  deleteWebhook: {
    tag: 'Webhooks',
    summary: 'Delete a webhook endpoint',
    mostTokens: 2,
    description: `Deletes an endpoint. Nothing more is sent to it: its open deliveries become \`skipped\`. Its
deliveries remain in the events (\`readEvent\`) for 30 days.

Deleting an endpoint that does not exist succeeds, so retries are safe.`,
    answer: 'The endpoint is deleted.',
  },
  testWebhook: {
    tag: 'Webhooks',
    summary: 'Send a test event to a webhook endpoint',
    description: `Sends a \`webhook.test\` event to the endpoint, regardless of its event types. It is signed,
retried and recorded like any other event. Read the delivery (\`readDelivery\`) for the response of the
receiver, in a sandbox the simulated one.

With \`type\`, an example of that event type is sent instead, to this endpoint only, which must subscribe to
the type. Its request has the header
\`webhook-example: true\`, and its identifiers are of things that do not exist. It is not usage.

A failed test counts like any failed delivery. Fails with \`CONFLICT\` if the endpoint is disabled or paused.`,
    body: { type: 'ticket.created' },
    answer: 'The identifiers of the test event and its delivery.',
    data: { eventId: examples.webhookTest.id, deliveryId: examples.webhookTest.deliveryId },
  },
} as const satisfies Record<string, OperationText>;

export const webhookFields = {
  id: 'Identifier of the endpoint.',
  url: 'Receiver URL, normalized.',
  events: 'Subscribed event types. There is no wildcard.',
  filter: 'Which events of these types are sent; null for all.',
  description: 'Text of the organization’s own; null if there is none.',
  maxPerSecond: 'Limit of attempts per second; null if there is none.',
  status:
    '`active`; `paused` by `updateWebhook`; or `auto_disabled`: after 10 consecutive deliveries that ended `exhausted`, or by support. No operation enables it: register a new endpoint, or contact support.',
  consecutiveFailures:
    'Number of deliveries that ended `exhausted` since the last one that `succeeded`. Failed attempts do not count.',
  failing: 'Failure state while `active` with recent deliveries that ended `exhausted`. Null otherwise.',
  pausedAt: 'When it was paused, UTC; null unless `paused`.',
  disabledAt: 'When it was disabled, UTC; null while `active`.',
  disabledReason:
    '`consecutive_failures`: 10 consecutive deliveries ended `exhausted`. Null while `active`, and if support disabled it.',
  predecessor:
    'The endpoint of the organization with the same URL that was the last to be disabled before this one was registered, even if it was deleted since. Null if there was none. Of deleted endpoints, only the last 50 within 31 days are known.',
  createdAt: 'Registration time, UTC.',
};

const predecessorFields = {
  id: 'Identifier of the disabled endpoint.',
  failingSince:
    'Time of the first of the consecutive failures that disabled it, UTC. The events of those failures are up to about an hour older. Null if support disabled it.',
  disabledAt: 'When it was disabled, UTC.',
};

export const failingFields = {
  since: 'Time of the first of the current consecutive failures, UTC; null if it was not recorded.',
  failuresUntilDisabled: 'Number of further consecutive `exhausted` deliveries that disable the endpoint.',
};

const EVENTS_TEXT =
  'Event types to send, each at most once. `webhook.test` is not allowed; send it with `testWebhook`.';

const DESCRIPTION_TEXT = 'What the endpoint is for, at most 200 characters (Unicode code points).';

const RATE_TEXT =
  'Maximum number of attempts per second, 1 to 1,000. Deliveries beyond it wait for their turn, which does not count as an attempt.';

export const RECEIVER_URL =
  'An `https` URL of at most 2,048 characters with a public host name or IP address and port 443 or from 1024 on; no credentials or fragment.';

const STARTED = 'The redelivery job that this request has started; null if it has started none.';

const FILTER_TEXT = 'Sends only those events of the types whose values are in each given list.';

/** The schemas of answers. */
export const answers = {
  Webhook: described(webhooks.Webhook, webhookFields),
  UpdatedWebhook: described(webhooks.UpdatedWebhook, { ...webhookFields, redelivery: STARTED }),
  RegisteredWebhook: described(webhooks.RegisteredWebhook, {
    ...webhookFields,
    redelivery: STARTED,
    secret:
      'Signing secret: `whsec_` and the base64 of 32 bytes. Returned by this operation only. To rotate it, register again and delete this endpoint.',
  }),
  Failing: described(deliveries.Failing, failingFields),
  Predecessor: described(webhooks.Predecessor, predecessorFields),
  EventFilter: described(webhooks.EventFilter, {
    channelIds: 'Channels, of events with a `channelId`; absent for all.',
    roles: 'Roles of authors, of events with a `role`; absent for all.',
  }),
  TestEvent: described(TestEvent, {
    eventId: 'The test event.',
    deliveryId: 'Its delivery to this receiver. Reading it returns 404 for a moment after this response.',
  }),
};

/** The schemas of requests. */
export const bodies = {
  RegisterWebhook: described(
    webhooks.RegisterWebhook,
    {
      url: RECEIVER_URL,
      events: EVENTS_TEXT,
      filter: FILTER_TEXT,
      description: DESCRIPTION_TEXT,
      maxPerSecond: RATE_TEXT,
      recover:
        '`predecessor`: sends a test, and after its success what the disabled endpoint with this `url` missed. Fails if there is none.',
    },
    {
      url: { format: 'uri', maxLength: MAX_RECEIVER_URL_LENGTH },
      events: { uniqueItems: true },
      description: { maxLength: MAX_DESCRIPTION_LENGTH },
    },
  ),
  TestWebhook: described(webhooks.TestWebhook, {
    type: 'Event type to send: a test, or an example of a type that endpoints can subscribe to.',
  }),
  UpdateWebhook: described(
    webhooks.UpdateWebhook,
    {
      url: `${RECEIVER_URL} Omit to keep the URL.`,
      events: `${EVENTS_TEXT} Omit to keep the event types.`,
      filter: `${FILTER_TEXT} Null removes the filter; omit to keep it.`,
      paused: 'True pauses the endpoint, and false resumes it; omit to leave it as it is.',
      description: `${DESCRIPTION_TEXT} Null removes it; omit to keep it.`,
      maxPerSecond: `${RATE_TEXT} Null removes the limit; omit to keep it.`,
    },
    {
      url: { format: 'uri', maxLength: MAX_RECEIVER_URL_LENGTH },
      events: { uniqueItems: true },
      description: { maxLength: MAX_DESCRIPTION_LENGTH },
    },
  ),
};
