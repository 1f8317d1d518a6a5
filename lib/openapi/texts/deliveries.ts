import * as deliveries from '../../../functions/api/delivery-schemas.ts';
import * as webhooks from '../../../functions/api/webhooks/schemas.ts';
import { WebhookRequest } from '../../../functions/domain/delivery.ts';
import * as examples from '../example-values.ts';
import { CREATED, described, type OperationText } from '../operation-text.ts';
import * as sandboxExamples from '../sandbox-examples.ts';
import { failingFields, webhookFields } from './webhooks.ts';

export const operations = {
  listDeliveries: {
    tag: 'Deliveries',
    atMost: { reads: 1600, writes: 4 },
    description: `What was, is and will be sent to one endpoint, newest first. Deliveries are kept for 30 days. Those of a deleted endpoint
cannot be read: 404.

\`status\`, \`eventType\`, \`from\` and \`to\` narrow the list to deliveries of which all of them are true. Go on until \`nextCursor\` is null: one request reads
some thousand deliveries at most, so that where few match a page may be short or empty and yet have a \`nextCursor\`. A cursor belongs to the filters that it came
with.

**In a sandbox** \`include=request\` adds to each delivery that was attempted the \`request\` of its last attempt, as a receiver would get
it if it were sent now: the body and the headers as recorded, with \`webhook-timestamp\` and \`webhook-signature\` of this moment, so that a
receiver which refuses old signatures takes it. Send its \`body\` to the byte, with its \`headers\`, to the address where you try your receiver:
the service itself makes no request. What your receiver answers is not recorded; the delivery is what the simulated receiver made of it.
Recognise what you have forwarded by \`webhook-delivery-id\` and \`webhook-attempt\`. Live there is no \`request\`, whether it is asked for or not.`,
    answer: 'A page of deliveries.',
    data: [examples.retryingDelivery, examples.succeededDelivery],
    sandbox: [sandboxExamples.forwardedDelivery],
  },
  readDelivery: {
    tag: 'Deliveries',
    atMost: { reads: 20, writes: 3 },
    description: `One delivery with the log of its attempts: when each began, how long it took, what the receiver answered, or why there was
no answer. Of an answer that was no success the first KiB of the body is kept, so that a receiver can say what it did not like.

**In a sandbox** each attempt has the \`request\` as it would have gone out, with the timestamp and the signature that it had then: check
your verification against it. Where \`simulate-speed\` lets time pass faster, \`startedAt\`, \`durationMs\`, \`nextRetryAt\` and \`terminalAt\`
tell what has happened, and \`atRealSpeed\` what would have happened.`,
    answer: 'The delivery with its attempts.',
    data: examples.retryingDeliveryWithAttempts,
    sandbox: sandboxExamples.simulatedDeliveryWithAttempts,
  },
  redeliverDelivery: {
    tag: 'Deliveries',
    atMost: { reads: 20, writes: 15 },
    description: `Sends the event of a finished delivery again, whether it \`succeeded\`, is \`exhausted\` or was \`skipped\`. It becomes a new
delivery with an identifier of its own, 8 attempts of its own, and \`redeliveryOf\` naming the one it repeats. Event identifier and body
are the same to the byte. It counts for the endpoint’s failures like any other.

Refused with \`CONFLICT\` while the delivery is not finished, when the endpoint is disabled, and when the event is more than 30 days
old. It may be done as often as you like; without an \`Idempotency-Key\` each call sends once more. A simulated receiver begins with its
first answer again.`,
    answer: 'The new delivery.',
    data: examples.redelivery,
    location: `/api/v1/webhooks/${examples.webhook.id}/deliveries/${examples.redelivery.id}`,
  },
  readDeliveryStats: {
    tag: 'Deliveries',
    atMost: { reads: 1900, writes: 4 },
    description: `What became of the deliveries to all endpoints there are, counted as \`readWebhookStats\` counts those to one: by hour, all endpoints
together, and of each endpoint in sum. Of endpoints whose deliveries fail it tells how many more failures disable them and, where that follows from the deliveries
in progress, when. Before the first of them has failed for good, \`waitingSince\` tells that an endpoint does not take what it is sent.

The counts are some seconds behind the deliveries. What endpoints had that were deleted is not among them, nor is what channels were sent.`,
    answer: 'The counts of the hours asked for, their sums, and the state of each endpoint.',
    data: examples.deliveryStats,
  },
  readWebhookStats: {
    tag: 'Deliveries',
    atMost: { reads: 20, writes: 3 },
    description: `What became of the deliveries to one endpoint, counted by hour. Each counts under the hour of its event, however much
later it ends, so every hour balances: \`owed\` is the sum of \`pending\`, \`succeeded\`, \`exhausted\` and \`skipped\`. An hour with
nothing \`pending\` is complete, and \`oldestPending\` names the earliest one that is not.

The counts are some seconds behind the deliveries, whose changes are gathered for 10 seconds before they are counted. Those of a
deleted endpoint cannot be read: 404.`,
    answer: 'The counts of the hours asked for, and their sums.',
    data: examples.webhookStats,
  },
} as const satisfies Record<string, OperationText>;

export const deliveryFields = {
  id: 'Identifies the delivery, and is its `webhook-delivery-id` header on every attempt.',
  webhookId: 'The endpoint that it is for.',
  eventId: 'The event that it delivers. The same for all endpoints and for redeliveries.',
  eventType: 'Type of the event.',
  status:
    '`pending`: no attempt has finished. `retrying`: an attempt failed and another will come. Terminal: `succeeded` (an attempt was answered 2xx), `exhausted` (8 attempts failed), `skipped` (given up without another attempt; `terminalReason` says why).',
  attempts: 'Attempts started so far, 8 at most.',
  nextRetryAt:
    'When the next attempt is due; null unless `retrying`. The waits double from 30 seconds to 1 hour.',
  terminalAt: 'When it became terminal; null before.',
  terminalReason:
    'Why it ended without success: `max_attempts`, `endpoint_disabled` or `endpoint_deleted`. Two more are failures of the service, and not of the receiver: `event_missing`, the event could not be found any more, and `expired`, the delivery could not be processed for 3 days. After these it can be resent, which succeeds where the event still exists. In a sandbox a success says `sandbox_simulated`: it would have been sent, and its simulated receiver accepted it. Null otherwise.',
  lastError:
    'What went wrong in the last failed attempt, in one line; it stays after a success. Null when no attempt failed.',
  lastResponseStatus: 'HTTP status of the last attempt; null when there was none or it got no answer.',
  redeliveryOf: 'The delivery that this one repeats on request; null for the first one of its event.',
  createdAt: CREATED,
  atRealSpeed:
    'In a sandbox, where its endpoint’s `simulate-speed` lets time pass faster: when the next attempt and the end would have been without it. Null otherwise, and live.',
};

export const LISTED_REQUEST =
  'With `include=request`, for a delivery of a sandbox that was attempted: the request of its last attempt with the time of this answer, signed for it. Absent otherwise, and live.';

export const ATTEMPT_LOG =
  'Its finished attempts, oldest first. One whose worker was lost counts in `attempts` and is missing here.';

const countFields = {
  owed: 'Deliveries that came into being: the sum of the next four.',
  pending: 'Those that have not ended: `pending` or `retrying`.',
  succeeded: 'Those that ended `succeeded`.',
  exhausted: 'Those that ended `exhausted`.',
  skipped: 'Those that ended `skipped`.',
  duplicates:
    'Attempts whose outcome the service lost: the receiver may have had the event once more than the attempt logs say. Counted when the delivery ends, and not a part of `owed`.',
};

/** The schemas of answers. */
export const answers = {
  Delivery: described(webhooks.Delivery, deliveryFields),
  ListedDelivery: described(webhooks.ListedDelivery, { ...deliveryFields, request: LISTED_REQUEST }),
  DeliveryWithAttempts: described(webhooks.DeliveryWithAttempts, {
    ...deliveryFields,
    attemptLog: ATTEMPT_LOG,
  }),
  Attempt: described(deliveries.Attempt, {
    number: 'Counts from 1; the `webhook-attempt` header.',
    startedAt: 'When it began, UTC.',
    durationMs: 'How long it took, in milliseconds. The limit is 10 seconds.',
    status: 'HTTP status of the receiver’s answer; null when there was none.',
    error: 'Why it failed, in one line; null when it succeeded.',
    response: 'The beginning of the answer’s body, at most 1 KiB; null when it succeeded or there was none.',
    request:
      'In a sandbox: the request as it would have gone out, signature included. Null when its body is larger than 32 KiB, and live, where none is kept.',
    atRealSpeed:
      'In a sandbox, where time passes faster: when it would have begun, and how long it would have taken. Null otherwise, and live.',
  }),
  WebhookRequest: described(WebhookRequest, {
    method: 'Always `POST`.',
    url: 'Where it would have gone, the parameters of the simulated receiver included.',
    headers: 'All that a receiver would get but for what concerns the connection alone; names in lower case.',
    body: 'The body to the byte, as text: what the signature is over.',
  }),
  DeliveryAtRealSpeed: described(deliveries.DeliveryAtRealSpeed, {
    nextRetryAt: 'When the next attempt would be due, UTC; null unless `retrying`.',
    terminalAt: 'When it would have ended, UTC; null before.',
  }),
  AttemptAtRealSpeed: described(deliveries.AttemptAtRealSpeed, {
    startedAt: 'When it would have begun, UTC.',
    durationMs: 'How long it would have taken, in milliseconds.',
  }),
  WebhookStats: described(webhooks.WebhookStats, {
    webhookId: 'The endpoint.',
    from: 'Beginning of the earliest hour that was asked for, UTC.',
    to: 'End of the current hour, UTC.',
    totals: 'All hours together.',
    oldestPending:
      'Beginning of the earliest of these hours with deliveries that have not ended, UTC; null when all have.',
    hours: 'The hours with deliveries, newest first. The others are left out.',
  }),
  DeliveryStats: described(webhooks.DeliveryStats, {
    from: 'Beginning of the earliest hour that was asked for, UTC.',
    to: 'End of the current hour, UTC.',
    totals: 'All hours of all endpoints together.',
    backlog: 'What of these hours has not ended.',
    hours: 'The hours with deliveries, all endpoints together, newest first. The others are left out.',
    endpoints: 'Each endpoint there is, newest first.',
  }),
  EndpointStats: described(webhooks.EndpointStats, {
    webhookId: 'The endpoint.',
    url: webhookFields.url,
    status: webhookFields.status,
    consecutiveFailures: webhookFields.consecutiveFailures,
    failing: 'While its deliveries fail: since when, what disables it, and when. Null otherwise.',
    disabledAt: webhookFields.disabledAt,
    disabledReason: webhookFields.disabledReason,
    totals: 'All hours together.',
    oldestPending:
      'Beginning of the earliest of these hours with deliveries that have not ended, UTC; null when all have.',
    waitingSince:
      'Since when a delivery waits, UTC: of the endpoint’s latest deliveries that are more than a minute old, when the oldest one that has not ended was created. Null when they all have.',
  }),
  FailingUntil: described(webhooks.FailingUntil, {
    ...failingFields,
    disablesAt:
      'When the endpoint is disabled if none of its deliveries succeeds from now on and attempts take as long as they last did, UTC: as deliveries that are in progress run out of retries. Null when fewer are in progress than it takes.',
  }),
  Backlog: described(webhooks.Backlog, {
    pending: 'How many deliveries have not ended.',
    oldestPending: 'Beginning of the earliest hour with such deliveries, UTC; null when all have ended.',
  }),
  DeliveryCounts: described(webhooks.DeliveryCounts, countFields),
  DeliveryCountsOfHour: described(webhooks.DeliveryCountsOfHour, {
    hour: 'Beginning of the hour, UTC. A delivery counts under the hour of its event; one that was resent, under the hour of that request.',
    ...countFields,
  }),
};
