import * as cast from '../cast.ts';
import type { OperationText } from '../operation-text.ts';
import * as sandboxCast from '../sandbox-cast.ts';

export const DELIVERY_TEXTS = {
  listDeliveries: {
    tag: 'Deliveries',
    description: `What was, is and will be sent to one endpoint, newest first. Deliveries are kept for 30 days. Those of a deleted endpoint
cannot be read: 404.

\`status\`, \`eventType\`, \`from\` and \`to\` narrow the list to deliveries of which all of them are true. Go on until \`nextCursor\` is null: one answer looks at
some thousand deliveries at most, so that where few match a page may be short or empty and yet have a \`nextCursor\`. A cursor belongs to the filters that it came
with.

**In a sandbox** \`include=request\` adds to each delivery that was attempted the \`request\` of its last attempt, as a receiver would get
it if it were sent now: the body and the headers as recorded, with \`webhook-timestamp\` and \`webhook-signature\` of this moment, so that a
receiver which refuses old signatures takes it. Send its \`body\` to the byte, with its \`headers\`, to the address where you try your receiver:
the service itself contacts nobody. What your receiver answers is not recorded; the delivery is what the simulated receiver made of it.
Recognise what you have forwarded by \`webhook-id\` and \`webhook-attempt\`. Live there is no \`request\`, whether it is asked for or not.`,
    answer: 'A page of deliveries.',
    data: [cast.retryingDelivery, cast.succeededDelivery],
    sandbox: [sandboxCast.forwardedDelivery],
  },
  readDelivery: {
    tag: 'Deliveries',
    description: `One delivery with the log of its attempts: when each began, how long it took, what the receiver answered, or why there was
no answer. Of an answer that was no success the first KiB of the body is kept, so that a receiver can say what it did not like.

**In a sandbox** each attempt has the \`request\` as it would have gone out, with the timestamp and the signature that it had then: check
your verification against it. Where \`simulate-speed\` lets time pass faster, \`startedAt\`, \`durationMs\`, \`nextRetryAt\` and \`terminalAt\`
tell what has happened, and \`atRealSpeed\` what would have happened.`,
    answer: 'The delivery with its attempts.',
    data: cast.retryingDeliveryWithAttempts,
    sandbox: sandboxCast.simulatedDeliveryWithAttempts,
  },
  redeliverDelivery: {
    tag: 'Deliveries',
    description: `Sends the event of a finished delivery again, whether it \`succeeded\`, is \`exhausted\` or was \`skipped\`. It becomes a new
delivery with an identifier of its own, 8 attempts of its own, and \`redeliveryOf\` naming the one it repeats. Event identifier and body
are the same to the byte. It counts for the endpoint’s failures like any other.

Refused with \`CONFLICT\` while the delivery is not finished, when the endpoint is disabled, and when the event is more than 30 days
old. It may be done as often as you like; without an \`Idempotency-Key\` each call sends once more. A simulated receiver begins with its
first answer again.`,
    answer: 'The new delivery.',
    data: cast.redelivery,
    location: `/api/v1/webhooks/${cast.webhook.id}/deliveries/${cast.redelivery.id}`,
  },
  readDeliveryStats: {
    tag: 'Deliveries',
    description: `What became of the deliveries to all endpoints there are, counted as \`readWebhookStats\` counts those to one: by hour, all endpoints
together, and of each endpoint in sum. Of endpoints whose deliveries fail it tells how many more failures disable them and, where that follows from the deliveries
under way, when. Before the first of them has failed for good, \`waitingSince\` tells that an endpoint does not take what it is sent.

The counts are some seconds behind the deliveries. What endpoints had that were deleted is not among them, nor is what channels were sent.`,
    answer: 'The counts of the hours asked for, their sums, and the state of each endpoint.',
    data: cast.deliveryStats,
  },
  readWebhookStats: {
    tag: 'Deliveries',
    description: `What became of the deliveries to one endpoint, counted by hour. Each counts under the hour of its event, however much
later it ends, so every hour balances: \`owed\` is the sum of \`pending\`, \`succeeded\`, \`exhausted\` and \`skipped\`. An hour with
nothing \`pending\` is complete, and \`oldestPending\` names the earliest one that is not.

The counts are some seconds behind the deliveries, whose changes are gathered for 10 seconds before they are counted. Those of a
deleted endpoint cannot be read: 404.`,
    answer: 'The counts of the hours asked for, and their sums.',
    data: cast.webhookStats,
  },
} as const satisfies Record<string, OperationText>;
