import { EVENT_CATALOGUE, type EventData, type EventType } from '../../functions/domain/events.ts';
import { signature } from '../../functions/domain/signature.ts';
import * as cast from './cast.ts';
import type { Operation, PathItem, Schema } from './openapi.ts';
import { EVENT_TYPES, eventSchemaName } from './schemas.ts';

interface EventText<T extends EventType> {
  summary: string;
  description: string;
  /** When the example happened, UTC. */
  createdAt: string;
  data: EventData<T>;
}

const EVENT_TEXTS: { [T in EventType]: EventText<T> } = {
  'conversation.created': {
    summary: 'A conversation started',
    description: 'A new conversation was started.',
    createdAt: cast.conversation.createdAt,
    data: {
      conversationId: cast.conversation.id,
      channelId: cast.conversation.channelId,
      externalUserId: cast.conversation.externalUserId,
    },
  },
  'message.received': {
    summary: 'A message was recorded',
    description:
      'A message was recorded in a conversation, whatever its `role`: answers of your own assistant come back as well. The content is not in the event; read the message with `messageId`.',
    createdAt: cast.message.createdAt,
    data: {
      conversationId: cast.conversation.id,
      messageId: cast.message.id,
      role: cast.message.role,
    },
  },
  'handoff.requested': {
    summary: 'A conversation was handed off',
    description: 'A conversation was escalated to a human.',
    createdAt: cast.escalation.createdAt,
    data: {
      conversationId: cast.conversation.id,
      escalationLogId: cast.escalation.id,
      reason: cast.escalation.reason,
    },
  },
  'ticket.created': {
    summary: 'A ticket was created',
    description: 'A fallback ticket was created, with or without a conversation.',
    createdAt: cast.ticket.createdAt,
    data: {
      ticketId: cast.ticket.id,
      conversationId: cast.ticket.conversationId,
      reason: cast.ticket.reason,
    },
  },
  'conversation.resolved': {
    summary: 'A conversation was resolved',
    description:
      'A conversation was marked resolved. Resolving one that is resolved already sends nothing; a message reopens it, and it can then be resolved again.',
    createdAt: cast.resolvedConversation.resolvedAt,
    data: { conversationId: cast.conversation.id, resolvedBy: cast.resolvedConversation.resolvedBy },
  },
  'webhook.test': {
    summary: 'A test of an endpoint',
    description:
      'Sent by the test operation to one endpoint, whatever it subscribes to. Signed, retried and recorded like every other event.',
    createdAt: cast.webhookTest.createdAt,
    data: { webhookId: cast.webhook.id },
  },
  'channel.message': {
    summary: 'A message for a channel',
    description:
      'What channels of the kind `http` receive, and nobody else: an agent or the assistant said something in a conversation on the channel. It cannot be subscribed to.',
    createdAt: cast.channelMessage.createdAt,
    data: cast.channelMessage,
  },
};

/** What an example of a delivery holds: the exact body and the headers that its signature covers. */
export function eventExample(type: EventType) {
  const { createdAt, data } = EVENT_TEXTS[type];
  const { schemaVersion } = EVENT_CATALOGUE[type];
  const body = {
    type,
    schemaVersion,
    orgId: cast.organization.id,
    createdAt,
    data: EVENT_CATALOGUE[type].data.parse(data),
  };
  const { id, deliveryId } = cast.eventAt(createdAt);
  const timestamp = Math.floor(Date.parse(createdAt) / 1000);
  return {
    body,
    headers: {
      'webhook-id': deliveryId,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature(
        cast.signingSecret,
        deliveryId,
        timestamp,
        Buffer.from(JSON.stringify(body), 'utf8'),
      ),
      'webhook-event-id': id,
      'webhook-attempt': 1,
      'webhook-endpoint-id': cast.webhook.id,
    },
  };
}

type Header = keyof ReturnType<typeof eventExample>['headers'];

const HEADER_TEXTS: Record<Header, { description: string; schema: Schema }> = {
  'webhook-id': {
    description: 'The delivery: the same on every attempt of it. Recognise duplicates by it.',
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
  'webhook-event-id': {
    description: 'The event: the same for all endpoints and for redeliveries.',
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
  const { summary, description } = EVENT_TEXTS[type];
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
      '2XX': { description: 'The attempt succeeded. The body is not looked at.' },
      default: {
        description:
          'The attempt failed. At most 1 KiB of the body is kept and shown in the delivery’s attempt log.',
      },
    },
  };
}

/** The events as the document's `webhooks` (public-api.md, Events). */
export const webhooks = (): Record<string, PathItem> =>
  Object.fromEntries(EVENT_TYPES.map((type) => [type, { post: receiveOperation(type) }]));
