import { ListDeliveriesQuery } from '../../functions/api/delivery-schemas.ts';
import { ListEventsQuery } from '../../functions/api/events/schemas.ts';
import * as ids from '../../functions/domain/ids.ts';
import type { Route } from '../../functions/platform/route.ts';
import { CURSOR, IDEMPOTENCY_KEY } from './example-values.ts';
import type { Parameter, Ref } from './openapi.ts';
import { inlined } from './rendering.ts';

const inPath = (name: string, id: Parameters<typeof inlined>[0], description: string) => ({
  name,
  in: 'path' as const,
  required: true,
  description,
  schema: inlined(id),
});

const KEPT =
  'A request with the key of an earlier one, to the same operation and with the same content, gets the first answer again, with `Idempotency-Replayed: true`, and takes no effect a second time; with other content it is refused with 422. Keys are kept for 24 hours; only successful answers are stored.';

const idempotencyKey = (required: boolean, description: string) => ({
  name: 'Idempotency-Key',
  in: 'header' as const,
  required,
  description,
  schema: { type: 'string' as const, format: 'uuid' },
  example: IDEMPOTENCY_KEY,
});

/** Parameters by the names under which operations refer to them. */
export const PARAMETERS = {
  WebhookId: inPath('id', ids.EndpointId, 'Identifies the webhook endpoint.'),
  DeliveryId: inPath('deliveryId', ids.DeliveryId, 'Identifies the delivery.'),
  RedeliveryId: inPath('redeliveryId', ids.RedeliveryJobId, 'Identifies the redelivery.'),
  ConversationId: inPath('id', ids.ConversationId, 'Identifies the conversation.'),
  MessageId: inPath('messageId', ids.MessageId, 'Identifies the message.'),
  EscalationLogId: inPath('escalationLogId', ids.EscalationId, 'Identifies the entry of the escalation log.'),
  SourceId: inPath('id', ids.SourceId, 'Identifies the source.'),
  EventId: inPath('id', ids.EventId, 'Identifies the event.'),
  ChannelId: inPath('id', ids.ChannelId, 'Identifies the channel.'),
  TicketId: inPath('id', ids.TicketId, 'Identifies the ticket.'),
  ApiKeyId: inPath('id', ids.KeyId, 'Identifies the API key. It is not the key itself.'),
  Limit: {
    name: 'limit',
    in: 'query',
    description:
      'How many items a page has at most; it ends earlier where they are more than 2 MB together, so only `nextCursor: null` tells the last page. A number out of range is clamped to 1 or 100, an empty one is the default; only what is no integer is refused.',
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  },
  VisitorLimit: {
    name: 'limit',
    in: 'query',
    description:
      'How many messages are read, most of which are shown; fewer where they are more than 2 MB together. A number out of range is clamped to 1 or 100, an empty one is the default; only what is no integer is refused.',
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
  },
  After: {
    name: 'after',
    in: 'query',
    description: 'The `after` of the answer before. Leave it out to begin with the first message.',
    schema: inlined(ids.MessageId),
  },
  Cursor: {
    name: 'cursor',
    in: 'query',
    description:
      'The `nextCursor` of the page before, as it was given. It opens no other listing, and one that was altered is refused, never taken for the first page. Leave it out for the first page.',
    schema: { type: 'string' },
    example: CURSOR,
  },
  Hours: {
    name: 'hours',
    in: 'query',
    description:
      'How many hours to look back, the current one included. A number out of range is clamped to 1 or 168, an empty one is the default; only what is no integer is refused.',
    schema: { type: 'integer', minimum: 1, maximum: 168, default: 24 },
  },
  Months: {
    name: 'months',
    in: 'query',
    description:
      'How many months to look back, the current one included. A number out of range is clamped to 1 or 24, an empty one is the default; only what is no integer is refused.',
    schema: { type: 'integer', minimum: 1, maximum: 24, default: 12 },
  },
  Include: {
    name: 'include',
    in: 'query',
    description:
      '`request`: each delivery of a sandbox that was attempted comes with the request of its last attempt, signed for this moment. Live it changes nothing. Any other value is refused.',
    schema: { type: 'string', enum: ['request'] },
  },
  Status: {
    name: 'status',
    in: 'query',
    description: 'Only deliveries of these states, separated by commas.',
    schema: inlined(ListDeliveriesQuery.shape.status),
    example: 'exhausted,skipped',
  },
  EventType: {
    name: 'eventType',
    in: 'query',
    description: 'Only deliveries of these event types, separated by commas.',
    schema: inlined(ListDeliveriesQuery.shape.eventType),
    example: 'conversation.created,message.received',
  },
  From: {
    name: 'from',
    in: 'query',
    description:
      'Only deliveries of this moment or later, in UTC. It counts when the event happened, or when sending it again was asked for, which `createdAt` is moments after.',
    schema: { type: 'string', format: 'date-time' },
    example: '2026-11-20T09:00:00.000Z',
  },
  To: {
    name: 'to',
    in: 'query',
    description: 'Only deliveries of before this moment, in UTC, on the same terms as `from`.',
    schema: { type: 'string', format: 'date-time' },
    example: '2026-11-20T10:00:00.000Z',
  },
  Type: {
    name: 'type',
    in: 'query',
    description: 'Only events of these types, separated by commas.',
    schema: inlined(ListEventsQuery.shape.type),
    example: 'conversation.created,message.received',
  },
  EventsFrom: {
    name: 'from',
    in: 'query',
    description: 'Only events of this time or later, UTC. At most 30 days ago.',
    schema: { type: 'string', format: 'date-time' },
    example: '2026-11-20T09:00:00.000Z',
  },
  EventsTo: {
    name: 'to',
    in: 'query',
    description: 'Only events before this time, UTC.',
    schema: { type: 'string', format: 'date-time' },
    example: '2026-11-20T10:00:00.000Z',
  },
  Order: {
    name: 'order',
    in: 'query',
    description: '`desc`: newest first. `asc`: oldest first, to follow the log.',
    schema: { type: 'string', enum: ['asc', 'desc'], default: 'desc' },
  },
  Environment: {
    name: 'environment',
    in: 'query',
    description:
      'Whose things these are: the organization’s, `live`, or those of its sandbox. Any other value is refused.',
    schema: { type: 'string', enum: ['live', 'sandbox'], default: 'live' },
  },
  RequiredIdempotencyKey: idempotencyKey(
    true,
    `A UUID of your choice, new for each thing that you want done. ${KEPT}`,
  ),
  IdempotencyKey: idempotencyKey(
    false,
    `A UUID of your choice, new for each thing that you want done. Without one, a repeated request takes effect again. ${KEPT}`,
  ),
} as const satisfies Record<string, Parameter>;

type ParameterName = keyof typeof PARAMETERS;

/** By the pattern of the identifier, since `{id}` means another thing in each path. */
const NAMES = new Map<unknown, ParameterName>([
  [ids.EndpointId, 'WebhookId'],
  [ids.DeliveryId, 'DeliveryId'],
  [ids.RedeliveryJobId, 'RedeliveryId'],
  [ids.ConversationId, 'ConversationId'],
  [ids.MessageId, 'MessageId'],
  [ids.EscalationId, 'EscalationLogId'],
  [ids.SourceId, 'SourceId'],
  [ids.EventId, 'EventId'],
  [ids.ChannelId, 'ChannelId'],
  [ids.TicketId, 'TicketId'],
  [ids.KeyId, 'ApiKeyId'],
]);

/** A parameter of the query is the same thing wherever it is taken. */
const QUERY_NAMES = new Map<string, ParameterName>([
  ['type', 'Type'],
  ['order', 'Order'],
  ['limit', 'Limit'],
  ['cursor', 'Cursor'],
  ['after', 'After'],
  ['hours', 'Hours'],
  ['months', 'Months'],
  ['include', 'Include'],
  ['environment', 'Environment'],
  ['status', 'Status'],
  ['eventType', 'EventType'],
  ['from', 'From'],
  ['to', 'To'],
]);

/** Parameters that mean something else in one operation, by its name. */
const OWN_NAMES = new Map<string, ParameterName>([
  ['read-widget-messages limit', 'VisitorLimit'],
  ['list-events from', 'EventsFrom'],
  ['list-events to', 'EventsTo'],
]);

/** @throws when a route has a parameter that has no text here */
export function parametersOf(route: Route): Ref[] {
  const known = (name: ParameterName | undefined, parameter: string): ParameterName => {
    if (name === undefined) throw new Error(`${route.name}: no description of the ${parameter}`);
    return name;
  };
  const names = [
    ...Object.entries(shapeOf(route, 'params')).map(([name, id]) =>
      known(NAMES.get(id), `path parameter ${name}`),
    ),
    ...Object.keys(shapeOf(route, 'query')).map((name) =>
      known(OWN_NAMES.get(`${route.name} ${name}`) ?? QUERY_NAMES.get(name), `query parameter ${name}`),
    ),
  ];
  if (route.idempotency === 'required') names.push('RequiredIdempotencyKey');
  if (route.idempotency === 'honoured') names.push('IdempotencyKey');
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

function shapeOf(route: Route, part: 'params' | 'query'): Readonly<Record<string, unknown>> {
  const schema = route[part];
  if (!('shape' in schema)) throw new Error(`${route.name}: its ${part} are no object`);
  return Object(schema.shape);
}
