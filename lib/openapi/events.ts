import { EVENT_CATALOGUE, type EventType } from '../../functions/domain/events.ts';
import { sign } from '../../functions/domain/signature.ts';
import * as examples from './example-values.ts';
import type { Operation, PathItem, Schema } from './openapi.ts';
import { EVENT_TYPES, eventSchemaName } from './schemas.ts';

/** What an example of a delivery holds: the exact body and the headers that its signature covers. */
export function eventExample(type: EventType) {
  const { schemaVersion, data: schema, example } = EVENT_CATALOGUE[type];
  const { createdAt, ...data } = example(examples);
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

type Header = keyof ReturnType<typeof eventExample>['headers'];

const HEADER_TEXTS: Record<Header, { description: string; schema: Schema }> = {
  'webhook-id': {
    description:
      'The event: the same on every attempt, at every endpoint and on a redelivery. Recognise duplicates by it.',
    schema: { type: 'string' },
  },
  'webhook-timestamp': {
    description: 'When this attempt was made, in seconds since 1970. Refuse one that is minutes old.',
    schema: { type: 'integer' },
  },
  'webhook-signature': {
    description:
      '`v1,` and the base64 of the HMAC-SHA256 of `webhook-id.webhook-timestamp.body`, keyed with the bytes behind `whsec_`. Compare it in constant time, over the body’s bytes as they came.',
    schema: { type: 'string' },
  },
  'webhook-delivery-id': {
    description: 'The delivery: the same on every attempt of it.',
    schema: { type: 'string' },
  },
  'webhook-attempt': {
    description: 'Number of this attempt, from 1 to 8.',
    schema: { type: 'integer', minimum: 1, maximum: 8 },
  },
  'webhook-endpoint-id': {
    description: 'The endpoint or channel. Quote it to the sender to have the requests stopped.',
    schema: { type: 'string' },
  },
};

const GUARANTEES =
  'Delivered at least once, in no particular order, in the wire format of [Standard Webhooks](https://www.standardwebhooks.com). Verify the signature first; answer 2xx within 10 seconds, then do the work. Anything else is a failed attempt, redirects included, and is repeated up to 8 times over about an hour.';

function receiveOperation(type: EventType): Operation {
  const { summary, description } = EVENT_CATALOGUE[type];
  const name = eventSchemaName(type);
  const { body, headers } = eventExample(type);
  return {
    operationId: `receive${name}`,
    tags: ['Events'],
    summary,
    description: `${description}\n\n${GUARANTEES}`,
    // The receiver is the customer's: it authenticates by the signature.
    security: [],
    parameters: (Object.keys(HEADER_TEXTS) as Header[]).map((header) => ({
      name: header,
      in: 'header',
      required: true,
      ...HEADER_TEXTS[header],
      example: headers[header],
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` }, example: body } },
    },
    responses: {
      '2XX': { description: 'The attempt succeeded. The body is ignored.' },
      default: {
        description:
          'The attempt failed. At most 1 KiB of the body is kept and shown in the delivery’s attempt log.',
      },
    },
  };
}

/** The events as the document's `webhooks` (docs/specification.md, Events). */
export const webhooks = (): Record<string, PathItem> =>
  Object.fromEntries(EVENT_TYPES.map((type) => [type, { post: receiveOperation(type) }]));

/**
 * The event types as the dashboard and the commands of lib/cli list them, which know nothing else of the
 * service.
 */
export const eventTypeList = (): Record<string, { sentTo: string; summary: string }> =>
  Object.fromEntries(
    EVENT_TYPES.map((type) => {
      const { sentTo, summary } = EVENT_CATALOGUE[type];
      return [type, { sentTo, summary }];
    }),
  );
