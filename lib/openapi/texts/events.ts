import * as events from '../../../functions/api/events/routes.ts';
import * as examples from '../example-values.ts';
import { described, type OperationText } from '../operation-text.ts';
import { ATTEMPT_LOG, deliveryFields } from './deliveries.ts';

const { id: deliveryId, webhookId, eventId, eventType, ...stateFields } = deliveryFields;

const eventFields = {
  id: 'Identifies the event. The `webhook-id` header of all its deliveries.',
  type: 'Type of the event.',
  schemaVersion: 'Version of the shape of `data`.',
  createdAt: 'When the event happened, UTC.',
  example: 'True for an example that `testWebhook` sent; absent otherwise.',
  erased: 'True when the conversation was erased: `data` has identifiers only. Absent otherwise.',
  data: 'The fields of the event, as in its payload. They depend on `type`.',
  record:
    'With `include=record`: the message, conversation, escalation log entry or ticket that the event is about, as it is now. The prefix of its `id` tells which. Absent otherwise.',
  recordOmitted:
    'With `include=record`, why there is no `record`: `missing_scope` (the key lacks `read:conversations`), `deleted`, or `no_record` (the event is an example, or about nothing that can be read). Absent otherwise. Values may be added.',
};

const summaryFields = {
  id: deliveryId,
  webhookId: 'The endpoint; null for a channel.',
  channelId: 'The channel; null for an endpoint.',
  url: 'Current URL of the receiver, or its last one before it was deleted. Null for a deleted channel.',
  receiverStatus: 'State of the endpoint or channel: `active`, `paused`, `auto_disabled` or `deleted`.',
  ...stateFields,
};

export const operations = {
  listEvents: {
    tag: 'Events',
    summary: 'List events',
    mostTokens: 31,
    description: `Lists the events of the last 30 days, newest first. Narrow the list with \`type\`, \`from\` and \`to\`. Continue until \`nextCursor\` is null:
with a filter, a page may be short or empty and still have a \`nextCursor\`.

**Follow the log** with \`order=asc\` to process events without receiving webhooks. The oldest events come first. Store the \`followCursor\` of each page that was
processed, and request the next page with it: at once, or some seconds later where \`nextCursor\` is null. Each event comes exactly once. An event appears 15
seconds after it happened: until then, an earlier event may still be committed. \`followCursor\` is null with \`order=desc\`, and once all events before \`to\` were
returned.

**With \`include=deliveries\`** each event has the state of its \`deliveries\`: at each endpoint the first delivery, and the redelivery that succeeded unless the
first one did. Deliveries at deleted endpoints are included, for the first 50 endpoints deleted since the oldest event of the page. The state may be a second old.
A page has fewer events the more endpoints you have, about 400 divided by their number, and still a \`nextCursor\`. Without it, a request consumes a third of the
units that are stated.

**With \`include=record\`** each event has what it is about as its \`record\`, in the form in which the operation for it returns it, or says in
\`recordOmitted\` why not. A record is as it is now, never older than its event. A key needs the scope \`read:conversations\` as well. A page of large
messages is short. \`include=deliveries,record\` adds both.

**With \`ids\`** the list has only the events with these identifiers, in the order of the list, and a page as many as fit: \`limit\` has no effect, and
\`followCursor\` is null. An event that does not exist, is older than 30 days or does not pass the other filters is left out.

Events of type \`channel.message\` contain the text of a message. A key needs the scope \`read:conversations\` as well to see them.`,
    answer: 'A page of events.',
    data: [examples.handoffEvent, examples.conversationEvent],
  },
  readEvent: {
    tag: 'Events',
    summary: 'Read an event with its payload and deliveries',
    mostTokens: 19,
    description: `Returns an event of the last 30 days with its exact payload and its deliveries: at each endpoint the first delivery, and the redelivery that
succeeded, if there is one. Deliveries at deleted endpoints are included, for the first 50 endpoints deleted since the event.
\`undelivered\` names each endpoint that got no attempt of the event, and why: by its settings as they are now, and by the end of its delivery.

With \`include=record\` it also has what it is about as its \`record\`, as in \`listEvents\`.

The delivery state may be a second old. When the deliveries are larger than 2 MB together, \`response\` is null in all attempts.`,
    answer: 'The event with its payload and deliveries.',
    data: examples.eventWithDeliveries,
  },
} as const satisfies Record<string, OperationText>;

/** The schemas of answers. */
export const answers = {
  Event: described(events.Event, {
    ...eventFields,
    deliveries: 'With `include=deliveries`: its deliveries, oldest first. Absent otherwise.',
  }),
  ListedEventDelivery: described(events.ListedEventDelivery, summaryFields),
  EventDelivery: described(events.EventDelivery, {
    ...summaryFields,
    attemptLog: `${ATTEMPT_LOG} Without \`request\`: its body is the payload of the event.`,
  }),
  EventWithDeliveries: described(events.EventWithDeliveries, {
    ...eventFields,
    payload: 'The request body of every delivery of this event, byte for byte.',
    deliveries: 'Its deliveries, oldest first.',
    undelivered: 'Endpoints that got no attempt of it, with the reason. Empty for a message of a channel.',
  }),
  UndeliveredTo: described(events.UndeliveredTo, {
    webhookId: 'The endpoint.',
    url: 'Its receiver URL.',
    receiverStatus: 'State of the endpoint: `active`, `paused`, `auto_disabled` or `deleted`.',
    reason:
      'Why: `not_subscribed` (to the type when the event happened), `filtered` (by the filter of the endpoint), `erased` (the conversation was erased before an attempt), `registered_later` (after the event), `paused` or `disabled` (at that time), `deleted`, `example_for_another` (an example that was sent to another endpoint), or `about_itself` (an event about the endpoint, which only others get). Values may be added.',
  }),
};
