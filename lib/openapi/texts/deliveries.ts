import * as deliveries from '../../../functions/api/fields.ts';
import * as receivers from '../../../functions/api/receiver-routes.ts';
import * as webhooks from '../../../functions/api/webhooks/routes.ts';
import { WebhookRequest } from '../../../functions/delivery/delivery.ts';
import * as examples from '../example-values.ts';
import { CREATED, described, type OperationText } from '../operation-text.ts';
import * as sandboxExamples from '../sandbox-examples.ts';
import { failingFields, webhookFields } from './webhooks.ts';

export const operations = {
  listDeliveries: {
    tag: 'Deliveries',
    summary: 'List the deliveries of a webhook endpoint',
    mostTokens: 18,
    description: `Returns the deliveries to an endpoint, newest first. Deliveries are kept for 30 days. For a
deleted endpoint the response is a 404.

Deliveries must match all given filters: \`status\`, \`eventType\`, \`from\` and \`to\`. A request reads a few
thousand deliveries at most, so a filtered page can be short or empty before \`nextCursor\` is null. A cursor is
valid only with its filters.

**In a sandbox**, \`include=request\` adds the \`request\` of the last attempt: the recorded body and headers,
with a current \`webhook-timestamp\` and \`webhook-signature\`. To test your receiver, send it the exact
\`body\` with the \`headers\`. Its response is not recorded: the delivery keeps its simulated outcome. Recognize
forwarded requests by \`webhook-delivery-id\` and \`webhook-attempt\`. Live deliveries have no \`request\`.

\`include=response\` adds the \`lastResponse\`, so that deliveries can be grouped by the receiver’s error.`,
    answer: 'A page of deliveries.',
    data: [examples.retryingDelivery, examples.succeededDelivery],
    sandbox: [sandboxExamples.forwardedDelivery],
  },
  readDelivery: {
    tag: 'Deliveries',
    summary: 'Read a delivery with its attempts',
    description: `Returns a delivery with its attempt log. For a failed attempt the log has the first KiB of the
response body.

**In a sandbox**, each attempt has the \`request\` that would have been sent, with its original timestamp and
signature: test your signature verification with it.`,
    answer: 'The delivery with its attempts.',
    data: examples.retryingDeliveryWithAttempts,
    sandbox: sandboxExamples.simulatedDeliveryWithAttempts,
  },
  retryDelivery: {
    tag: 'Deliveries',
    summary: 'Attempt a retrying delivery now',
    mostTokens: 13,
    description: `Makes the next attempt of a \`retrying\` delivery now instead of at \`nextRetryAt\`. It counts
as one of the 8 attempts. Later waits are the usual ones. At an endpoint with \`maxPerSecond\` it waits for its
turn, behind the attempts that wait already.

Fails with \`CONFLICT\` if the delivery is not \`retrying\`, while an attempt is in progress, if the attempt
was already requested, if the endpoint is disabled, and if it no longer subscribes to the event type.`,
    answer: 'The delivery, with its next attempt due now.',
    data: { ...examples.retryingDelivery, nextRetryAt: '2026-11-20T09:32:05.118Z' },
  },
  redeliverDelivery: {
    tag: 'Deliveries',
    summary: 'Resend a delivery',
    description: `Resends the event of a delivery that \`succeeded\`, is \`exhausted\` or was \`skipped\`. The
new delivery has its own identifier, 8 attempts, and the same event and body; \`redeliveryOf\` is the original.
Its failure counts toward those of the endpoint.

Fails with \`CONFLICT\` while the delivery is open, if the endpoint is disabled or no longer subscribes to the
event type, and if the event is more than 30 days old. Without an \`Idempotency-Key\`, each call resends the delivery again. A simulated receiver starts
with its first response.`,
    answer: 'The new delivery.',
    data: examples.redelivery,
    location: `/api/v1/webhooks/${examples.webhook.id}/deliveries/${examples.redelivery.id}`,
  },
  readDeliveryStats: {
    tag: 'Deliveries',
    summary: 'Count the deliveries of all webhook endpoints by hour and outcome',
    mostTokens: 21,
    description: `Counts deliveries as \`readWebhookStats\` does: by hour for all endpoints together, and in
total for each. \`failing\` predicts when an endpoint will be disabled. \`waitingSince\` shows that an endpoint
does not accept deliveries, before the first one is \`exhausted\`.

Counts lag by a few seconds. The totals include the first 50 endpoints that were deleted in this time; \`endpoints\`
lists current ones. Channels are not included.`,
    answer: 'The counts by hour, their totals, and the state of each endpoint.',
    data: examples.deliveryStats,
  },
  readWebhookStats: {
    tag: 'Deliveries',
    summary: 'Count the deliveries of a webhook endpoint by hour and outcome',
    description: `Counts the deliveries to an endpoint. A delivery counts in the hour of its event, whenever it
ends: in each hour, \`owed\` is the sum of \`pending\`, \`succeeded\`, \`exhausted\` and \`skipped\`. An hour
without \`pending\` deliveries is complete.

\`latency\` shows how fast the receiver is.

Counts lag by a few seconds, because changes are batched for 10 seconds. For a deleted endpoint the response is
a 404.`,
    answer: 'The counts by hour and their totals.',
    data: examples.webhookStats,
  },
} as const satisfies Record<string, OperationText>;

const LATER_CODES = 'Codes may be added: handle unknown ones as a failure.';
const ERROR_CODE = `Why the attempt failed, for programs: \`http_status\` (a status other than 2xx), \`redirect\` (301, 302, 303, 307 or 308), \`timeout\`, \`connection_refused\` (no connection: refused, or the host or network is unreachable), \`connection_closed\` (closed, or failed otherwise, before the response), \`dns\` (the host name does not resolve), \`tls\` (handshake or certificate), \`address_forbidden\` (the URL or its address is not public, or the operator has blocked it), \`invalid_response\` (not HTTP, or its headers are too large) or \`lost\` (the service lost the outcome). Null if it succeeded. ${LATER_CODES}`;

export const deliveryFields = {
  id: 'Identifier of the delivery, sent as `webhook-delivery-id`.',
  webhookId: 'The endpoint.',
  eventId: 'The event, the same for all endpoints and redeliveries.',
  eventType: 'Type of the event.',
  status:
    '`pending`: no attempt has finished. `retrying`: an attempt failed and another one is scheduled. Terminal: `succeeded` (a 2xx response), `exhausted` (8 failed attempts), `skipped` (ended without another attempt; see `terminalReason`).',
  attempts: 'Number of attempts started, at most 8.',
  nextRetryAt:
    'When the next attempt is due, the first one included; null while an attempt is in progress, and once the delivery has ended. Waits double from 30 seconds up to 1 hour.',
  nextRetryReason:
    'Why the next attempt is later than its wait: `retry_after`, the receiver asked for the time by `Retry-After` with a 429 or 503, of which at most 1 hour counts. Null otherwise.',
  terminalAt: 'When the delivery became terminal; null before.',
  terminalReason:
    'Why the delivery ended without success: `max_attempts`, `endpoint_disabled`, `endpoint_deleted`, `endpoint_paused`, `not_subscribed` (the endpoint no longer subscribes to the event type, or its filter excludes the event), `erased` (the conversation of the event was erased), `event_missing` (the event no longer exists) or `expired` (still open after 3 days). After the last two, which are failures of the service, resend the delivery; this works if the event still exists. `sandbox_simulated` for a success in a sandbox. Null otherwise.',
  lastError: 'Error of the last failed attempt; kept after a success. Null if no attempt failed.',
  lastErrorCode: `Code of \`lastError\`, for programs, as of an attempt’s \`errorCode\`. ${LATER_CODES}`,
  lastResponseStatus: 'HTTP status of the last attempt; null if there was no attempt or no response.',
  redeliveryOf:
    'The delivery that this one resends; null for an original delivery, and where a redelivery job resends an event that the endpoint had no delivery of.',
  createdAt: CREATED,
};

export const LISTED_REQUEST =
  'With `include=request`, in a sandbox: the request of the last attempt, signed with the current time. Absent for deliveries without an attempt, and live.';

export const LISTED_RESPONSE =
  'With `include=response`: the beginning of the response body of the last attempt, at most 1 KiB. Absent for deliveries whose last attempt succeeded or got no response.';

export const ATTEMPT_LOG =
  'Finished attempts, oldest first. An attempt whose worker was lost counts in `attempts` but is missing here.';

const countFields = {
  owed: 'Deliveries created: the sum of `pending`, `succeeded`, `exhausted` and `skipped`.',
  pending: 'Deliveries that are `pending` or `retrying`.',
  succeeded: 'Deliveries that ended `succeeded`.',
  exhausted: 'Deliveries that ended `exhausted`.',
  skipped: 'Deliveries that ended `skipped`.',
  duplicates:
    'Attempts whose outcome was lost, which the receiver may have received. Counted when the delivery ends; not part of `owed`.',
};

const OLDEST_PENDING =
  'Start of the earliest of these hours with `pending` deliveries, UTC; null if there is none.';

const LATENCY =
  'How long the attempts of deliveries that have ended took, failed attempts included. Null if there are none, and for hours before this was counted.';
const PRECISION =
  'Estimated from counts by duration, in classes of 8 to 11.3, 11.3 to 16, 16 to 22.6 milliseconds and so on up to 10 seconds: up to 41 % off.';

export const statsFields = {
  from: 'Start of the earliest requested hour, UTC.',
  to: 'End of the current hour, UTC.',
  totals: 'Counts of all hours together.',
  latency: LATENCY,
  oldestPending: OLDEST_PENDING,
  hours: 'Hours with deliveries, newest first. Other hours are omitted.',
};

/** The schemas of answers. */
export const answers = {
  Delivery: described(webhooks.Delivery, deliveryFields),
  ListedDelivery: described(webhooks.ListedDelivery, {
    ...deliveryFields,
    request: LISTED_REQUEST,
    lastResponse: LISTED_RESPONSE,
  }),
  DeliveryWithAttempts: described(webhooks.DeliveryWithAttempts, {
    ...deliveryFields,
    attemptLog: ATTEMPT_LOG,
  }),
  Attempt: described(deliveries.Attempt, {
    number: 'Number of the attempt, from 1; sent as `webhook-attempt`.',
    startedAt: 'Start of the attempt, UTC.',
    durationMs: 'Duration in milliseconds. The limit is 10 seconds.',
    status: 'HTTP status of the response; null if there was none.',
    error: 'Why the attempt failed; null if it succeeded. The wording may change.',
    errorCode: ERROR_CODE,
    response: 'First KiB of the response body; null after a success, or without a response.',
    request:
      'In a sandbox: the request with its signature. Null if the body is larger than 32 KiB, and live.',
  }),
  WebhookRequest: described(WebhookRequest, {
    method: 'Always `POST`.',
    url: 'Receiver URL, including the parameters of the simulated receiver.',
    headers: 'All headers except those of the connection; names in lower case.',
    body: 'The exact body as text, as signed.',
  }),
  WebhookStats: described(webhooks.WebhookStats, { webhookId: 'The endpoint.', ...statsFields }),
  DeliveryStats: described(webhooks.DeliveryStats, {
    from: 'Start of the earliest requested hour, UTC.',
    to: 'End of the current hour, UTC.',
    totals: 'Counts of all hours and endpoints together, those deleted in this time included.',
    latency: `${LATENCY} All endpoints together.`,
    backlog: 'Deliveries of these hours that have not ended.',
    hours: 'Hours with deliveries, all endpoints together, newest first. Other hours are omitted.',
    endpoints: 'All current endpoints, newest first.',
  }),
  EndpointStats: described(webhooks.EndpointStats, {
    webhookId: 'The endpoint.',
    url: webhookFields.url,
    status: webhookFields.status,
    consecutiveFailures: webhookFields.consecutiveFailures,
    failing: webhookFields.failing,
    disabledAt: webhookFields.disabledAt,
    disabledReason: webhookFields.disabledReason,
    totals: 'Counts of all hours together.',
    latency: LATENCY,
    oldestPending: OLDEST_PENDING,
    waitingSince:
      'Creation time of the oldest delivery that waits, among the latest ones, UTC: open for more than a minute, or `retrying`. Null if there is none.',
  }),
  FailingUntil: described(webhooks.FailingUntil, {
    ...failingFields,
    disablesAt:
      'When the deliveries in progress will disable the endpoint, UTC, if none succeeds: by the schedule of retries, without the time that attempts take. Null if too few are in progress.',
  }),
  Backlog: described(webhooks.Backlog, {
    pending: 'Number of deliveries that have not ended.',
    oldestPending: 'Start of the earliest hour with such deliveries, UTC; null if there is none.',
  }),
  Latency: described(receivers.Latency, {
    p50Ms: `Half of the attempts took at most so many milliseconds. ${PRECISION}`,
    p95Ms: `95 % of the attempts took at most so many milliseconds. ${PRECISION}`,
  }),
  DeliveryCounts: described(receivers.DeliveryCounts, countFields),
  DeliveryCountsOfHour: described(receivers.DeliveryCountsOfHour, {
    hour: 'Start of the hour, UTC. A delivery counts in the hour of its event; a redelivery in the hour it was requested.',
    ...countFields,
  }),
};
