import { sign } from '../../functions/delivery/signature.ts';
import { EVENT_CATALOGUE, type EventType } from '../../functions/events/events.ts';
import * as examples from './example-values.ts';
import type { Operation, Parameter, PathItem, Ref, Schema } from './openapi.ts';
import { EVENT_TYPES, eventSchemaName } from './schemas.ts';
import { ticket } from './texts/tickets.ts';

/** What an example of a delivery holds: the exact body and the headers that its signature covers. */
export function eventExample(type: EventType) {
  const { schemaVersion, data: schema, example } = EVENT_CATALOGUE[type];
  const { createdAt, ...data } = example({ ...examples, ticket });
  const body = {
    type,
    schemaVersion,
    orgId: examples.organization.id,
    createdAt,
    data: schema.parse(data),
  };
  const { id, deliveryId } = examples.eventAt(createdAt);
  const timestamp = Math.floor(Date.parse(createdAt) / 1000);
  return {
    body,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': sign(
        examples.signingSecret,
        id,
        timestamp,
        Buffer.from(JSON.stringify(body), 'utf8'),
      ),
      'webhook-delivery-id': deliveryId,
      'webhook-attempt': 1,
      'webhook-endpoint-id': examples.webhook.id,
    },
  };
}

/** Not the tag of `listEvents`: generators write a file for each tag, of paths and of webhooks. */
export const RECEIVED_EVENTS = 'Webhook events';

type Header = keyof ReturnType<typeof eventExample>['headers'];

const HEADER_TEXTS: Record<Header, { description: string; schema: Schema }> = {
  'webhook-id': {
    description:
      'Identifier of the event: the same for every attempt, endpoint and redelivery. Use it to ignore duplicates.',
    schema: { type: 'string' },
  },
  'webhook-timestamp': {
    description: 'Time of this attempt, in seconds since the epoch. Reject requests that are minutes old.',
    schema: { type: 'integer' },
  },
  'webhook-signature': {
    description:
      '`v1,` and the base64 of the HMAC-SHA256 of `webhook-id.webhook-timestamp.body`, keyed with the bytes behind `whsec_`. Compute it over the raw body bytes and compare in constant time.',
    schema: { type: 'string' },
  },
  'webhook-delivery-id': {
    description: 'Identifier of the delivery: the same for all its attempts.',
    schema: { type: 'string' },
  },
  'webhook-attempt': {
    description: 'Number of the attempt, from 1 to 8.',
    schema: { type: 'integer', minimum: 1, maximum: 8 },
  },
  'webhook-endpoint-id': {
    description: 'Identifier of the endpoint or channel. Quote it to the sender to stop the requests.',
    schema: { type: 'string' },
  },
};

const EXAMPLE_HEADER: Parameter = {
  name: 'webhook-example',
  in: 'header',
  required: false,
  description:
    '`true` in an example that `testWebhook` sent: nothing of it happened. Absent otherwise. The signature does not cover it.',
  schema: { type: 'string' },
};

const headerParameter = (name: Header, example: unknown): Parameter => ({
  name,
  in: 'header',
  required: true,
  ...HEADER_TEXTS[name],
  example,
});

/** Headers whose example is the same for all events. */
const SHARED = {
  'webhook-attempt': 'WebhookAttempt',
  'webhook-endpoint-id': 'WebhookEndpointId',
} as const satisfies Partial<Record<Header, string>>;

/** Parameters by the names under which the events refer to them. */
export const EVENT_PARAMETERS = {
  WebhookAttempt: headerParameter('webhook-attempt', 1),
  WebhookEndpointId: headerParameter('webhook-endpoint-id', examples.webhook.id),
  WebhookExample: EXAMPLE_HEADER,
} satisfies Record<string, Parameter>;

const toShared = (name: keyof typeof EVENT_PARAMETERS): Ref => ({ $ref: `#/components/parameters/${name}` });

const GUARANTEES =
  'Delivered at least once, in no guaranteed order, in the format of [Standard Webhooks](https://www.standardwebhooks.com). Verify the signature, respond with 2xx within 10 seconds, and process the event afterwards. Any other response, including a redirect, is a failed attempt. A delivery has up to 8 attempts over about an hour.';

function receiveOperation(type: EventType): Operation {
  const { summary, description, sentTo } = EVENT_CATALOGUE[type];
  const name = eventSchemaName(type);
  const { body, headers } = eventExample(type);
  return {
    operationId: `receive${name}`,
    tags: [RECEIVED_EVENTS],
    summary,
    description: `${description}\n\n${GUARANTEES}`,
    // The receiver is the customer's: it authenticates by the signature.
    security: [],
    parameters: [
      ...(Object.keys(HEADER_TEXTS) as Header[]).map((name) =>
        name in SHARED ? toShared(SHARED[name as keyof typeof SHARED]) : headerParameter(name, headers[name]),
      ),
      ...(sentTo === 'subscribers' ? [toShared('WebhookExample')] : []),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` }, example: body } },
    },
    responses: {
      '2XX': { description: 'The attempt succeeded. The body is ignored.' },
      default: {
        description: 'The attempt failed. The attempt log of the delivery keeps at most 1 KiB of the body.',
      },
    },
  };
}

/** The events as the document's `webhooks` (docs/specification.md, Events). */
export const webhooks = (): Record<string, PathItem> =>
  Object.fromEntries(EVENT_TYPES.map((type) => [type, { post: receiveOperation(type) }]));

/**
 * The event types as the dashboard and the commands of packages/cli list them, which know nothing else of the
 * service.
 */
export const eventTypeList = (): Record<string, { sentTo: string; summary: string }> =>
  Object.fromEntries(
    EVENT_TYPES.map((type) => {
      const { sentTo, summary } = EVENT_CATALOGUE[type];
      return [type, { sentTo, summary }];
    }),
  );
