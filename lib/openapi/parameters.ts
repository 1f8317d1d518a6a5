import { EncodedUserId, ListConversationsQuery } from '../../functions/api/conversations/routes.ts';
import { EventInclude, ListEventsQuery, RecordInclude } from '../../functions/api/events/routes.ts';
import { DeliveryInclude, ListDeliveriesQuery, SortOrder } from '../../functions/api/fields.ts';
import { AuditLogQuery } from '../../functions/api/settings/routes.ts';
import * as ids from '../../functions/aws/ids.ts';
import { MAX_EVENT_IDS } from '../../functions/events/events.ts';
import { NO_FIELDS, type Route } from '../../functions/http/route.ts';
import { Environment } from '../../functions/tenancy/tenant.ts';
import { apiKey, CURSOR, conversation, conversationEvent, IDEMPOTENCY_KEY } from './example-values.ts';
import type { Parameter, Ref } from './openapi.ts';
import { inlined, schemaRef } from './rendering.ts';

const inPath = (name: string, id: Parameters<typeof inlined>[0], description: string) => ({
  name,
  in: 'path' as const,
  required: true,
  description,
  schema: inlined(id),
});

const EVENT_ID = 'evt_[0-9a-f]{32}';

const KEPT =
  'A repeated request with the same key has no further effect and returns the first response with `Idempotency-Replayed: true`; a different request with it is a 422. Keys of successful requests are kept for 24 hours.';

const UUID = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

const idempotencyKey = (required: boolean, description: string) => ({
  name: 'Idempotency-Key',
  in: 'header' as const,
  required,
  description,
  // Not the format `uuid`: generated Python clients cannot send its type in a header.
  schema: { type: 'string' as const, pattern: `^(${UUID}|"${UUID}")$` },
  example: IDEMPOTENCY_KEY,
});

/** Parameters by the names under which operations refer to them. */
export const PARAMETERS = {
  WebhookId: inPath('id', ids.EndpointId, 'Identifier of the webhook endpoint.'),
  DeliveryId: inPath('deliveryId', ids.DeliveryId, 'Identifier of the delivery.'),
  RedeliveryId: inPath('redeliveryId', ids.RedeliveryJobId, 'Identifier of the redelivery job.'),
  ConversationId: inPath('id', ids.ConversationId, 'Identifier of the conversation.'),
  MessageId: inPath('messageId', ids.MessageId, 'Identifier of the message.'),
  EscalationLogId: inPath('escalationLogId', ids.EscalationId, 'Identifier of the escalation log entry.'),
  SourceId: inPath('id', ids.SourceId, 'Identifier of the source.'),
  EventId: inPath('id', ids.EventId, 'Identifier of the event.'),
  ChannelId: inPath('id', ids.ChannelId, 'Identifier of the channel.'),
  TicketId: inPath('id', ids.TicketId, 'Identifier of the ticket.'),
  ApiKeyId: inPath('id', ids.KeyId, 'Identifier of the API key, not the key itself.'),
  ErasureId: inPath('id', ids.ErasureId, 'Identifier of the erasure.'),
  EncodedUserId: {
    ...inPath(
      'externalUserId',
      EncodedUserId,
      'Your identifier of the external user, 1 to 200 characters, percent-encoded.',
    ),
    schema: { type: 'string', examples: ['ada'] },
  },
  Limit: {
    name: 'limit',
    in: 'query',
    description:
      'Maximum number of items in a page. A page of about 2 MB ends earlier; only `nextCursor: null` marks the last page. Integers below 1 and above 100 are clamped to these, an empty value is the default, others are rejected.',
    schema: { type: 'integer', default: 20 },
  },
  Cursor: {
    name: 'cursor',
    in: 'query',
    description:
      'The unchanged `nextCursor` or `followCursor` of the previous page. Omit for the first page. A cursor that was altered, or that is from another list, is rejected.',
    schema: { type: 'string' },
    example: CURSOR,
  },
  Hours: {
    name: 'hours',
    in: 'query',
    description:
      'Number of hours to count, including the current one. Integers below 1 and above 168 are clamped to these, an empty value is the default, others are rejected.',
    schema: { type: 'integer', default: 24 },
  },
  Months: {
    name: 'months',
    in: 'query',
    description:
      'Number of months to count, including the current one. Integers below 1 and above 24 are clamped to these, an empty value is the default, others are rejected.',
    schema: { type: 'integer', default: 12 },
  },
  Include: {
    name: 'include',
    in: 'query',
    description:
      '`request` adds the request of the last attempt, signed with the current time, to each attempted delivery of a sandbox, without effect live. `response` adds the beginning of the response of the last attempt, if that failed. Other values are rejected.',
    schema: schemaRef(DeliveryInclude),
  },
  EventsInclude: {
    name: 'include',
    in: 'query',
    description:
      '`deliveries` adds to each event its deliveries, without their attempts. `record` adds what the event is about, as it is now. Other values are rejected.',
    schema: schemaRef(EventInclude),
  },
  ReadEventInclude: {
    name: 'include',
    in: 'query',
    description: '`record` adds what the event is about, as it is now. Other values are rejected.',
    schema: schemaRef(RecordInclude),
  },
  EventIds: {
    name: 'ids',
    in: 'query',
    description: `Only events with these identifiers, up to ${MAX_EVENT_IDS}, separated by commas. Those that do not exist are left out.`,
    schema: { type: 'string', pattern: `^${EVENT_ID}(,${EVENT_ID})*$` },
    example: conversationEvent.id,
  },
  Status: {
    name: 'status',
    in: 'query',
    description: 'Only deliveries with these statuses, separated by commas.',
    schema: inlined(ListDeliveriesQuery.shape.status),
    example: 'exhausted,skipped',
  },
  EventTypes: {
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
      'Only deliveries from this time on, UTC. Compares the time of the event, or of the request that resent it; `createdAt` is moments later.',
    schema: { type: 'string', format: 'date-time' },
    example: '2026-11-20T09:00:00.000Z',
  },
  To: {
    name: 'to',
    in: 'query',
    description: 'Only deliveries before this time, UTC. Compares the same time as `from`.',
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
  Action: {
    name: 'action',
    in: 'query',
    description: 'Only entries of these actions, separated by commas.',
    schema: inlined(AuditLogQuery.shape.action),
    example: 'webhook.created,webhook.deleted',
  },
  ActorType: {
    name: 'actorType',
    in: 'query',
    description: 'Only entries of actors of these types, separated by commas.',
    schema: inlined(AuditLogQuery.shape.actorType),
    example: 'user,api_key',
  },
  ActorId: {
    name: 'actorId',
    in: 'query',
    description: 'Only entries of the user or API key with this identifier.',
    schema: inlined(AuditLogQuery.shape.actorId),
    example: apiKey.id,
  },
  EntriesFrom: {
    name: 'from',
    in: 'query',
    description: 'Only entries of this time or later, UTC.',
    schema: { type: 'string', format: 'date-time' },
    example: '2026-11-20T09:00:00.000Z',
  },
  EntriesTo: {
    name: 'to',
    in: 'query',
    description: 'Only entries before this time, UTC.',
    schema: { type: 'string', format: 'date-time' },
    example: '2026-11-20T10:00:00.000Z',
  },
  Order: {
    name: 'order',
    in: 'query',
    description: '`desc`: newest first. `asc`: oldest first, to follow the log.',
    schema: { ...schemaRef(SortOrder), default: 'desc' },
  },
  MessagesOrder: {
    name: 'order',
    in: 'query',
    description:
      '`desc`: newest first. `asc`: oldest first; its last page ends the list, and later messages need a new one.',
    schema: { ...schemaRef(SortOrder), default: 'desc' },
  },
  ExternalUserId: {
    name: 'externalUserId',
    in: 'query',
    description: 'Only conversations of this external user.',
    schema: inlined(ListConversationsQuery.shape.externalUserId),
    example: conversation.externalUserId,
  },
  OfChannelId: {
    name: 'channelId',
    in: 'query',
    description: 'Only conversations with this channel: an identifier, or your own label.',
    schema: inlined(ListConversationsQuery.shape.channelId),
    example: conversation.channelId,
  },
  ConversationStatuses: {
    name: 'status',
    in: 'query',
    description: 'Only conversations with these statuses, separated by commas.',
    schema: inlined(ListConversationsQuery.shape.status),
    example: 'open,handed_off',
  },
  UpdatedAfter: {
    name: 'updatedAfter',
    in: 'query',
    description: 'Only conversations whose `updatedAt` is at this time or later, UTC.',
    schema: { type: 'string', format: 'date-time' },
    example: '2026-11-20T09:00:00.000Z',
  },
  UpdatedBefore: {
    name: 'updatedBefore',
    in: 'query',
    description: 'Only conversations whose `updatedAt` is before this time, UTC.',
    schema: { type: 'string', format: 'date-time' },
    example: '2026-11-20T10:00:00.000Z',
  },
  SelectedEnvironment: {
    name: 'environment',
    in: 'query',
    description:
      '`live` for the organization’s own data, `sandbox` for that of its sandbox. Other values are rejected.',
    schema: { ...schemaRef(Environment), default: 'live' },
  },
  RequiredIdempotencyKey: idempotencyKey(
    true,
    `A UUID of your choice, new for each request except its retries. ${KEPT}`,
  ),
  IdempotencyKey: idempotencyKey(
    false,
    `A UUID of your choice, new for each request except its retries. Without one, a repeated request takes effect again. ${KEPT}`,
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
  [ids.ErasureId, 'ErasureId'],
  [EncodedUserId, 'EncodedUserId'],
]);

/** A parameter of the query is the same thing wherever it is taken. */
const QUERY_NAMES = new Map<string, ParameterName>([
  ['type', 'Type'],
  ['action', 'Action'],
  ['actorType', 'ActorType'],
  ['actorId', 'ActorId'],
  ['order', 'Order'],
  ['ids', 'EventIds'],
  ['limit', 'Limit'],
  ['cursor', 'Cursor'],
  ['hours', 'Hours'],
  ['months', 'Months'],
  ['include', 'Include'],
  ['environment', 'SelectedEnvironment'],
  ['status', 'Status'],
  ['eventType', 'EventTypes'],
  ['from', 'From'],
  ['to', 'To'],
  ['externalUserId', 'ExternalUserId'],
  ['channelId', 'OfChannelId'],
  ['updatedAfter', 'UpdatedAfter'],
  ['updatedBefore', 'UpdatedBefore'],
]);

/** Parameters that mean something else in one operation, by its name. */
const OWN_NAMES = new Map<string, ParameterName>([
  ['list-conversations status', 'ConversationStatuses'],
  ['list-messages order', 'MessagesOrder'],
  ['list-events from', 'EventsFrom'],
  ['list-events to', 'EventsTo'],
  ['list-events include', 'EventsInclude'],
  ['read-event include', 'ReadEventInclude'],
  ['list-audit-log from', 'EntriesFrom'],
  ['list-audit-log to', 'EntriesTo'],
]);

/** @throws when a route has a parameter that has no text here */
export function parametersOf(route: Route): Ref[] {
  const requireName = (name: ParameterName | undefined, parameter: string): ParameterName => {
    if (name === undefined) throw new Error(`${route.name}: no description of the ${parameter}`);
    return name;
  };
  const names = [
    ...Object.entries(shapeOf(route, 'params')).map(([name, id]) =>
      requireName(NAMES.get(id), `path parameter ${name}`),
    ),
    ...Object.keys(shapeOf(route, 'query')).map((name) =>
      requireName(OWN_NAMES.get(`${route.name} ${name}`) ?? QUERY_NAMES.get(name), `query parameter ${name}`),
    ),
  ];
  if (route.idempotency === 'required') names.push('RequiredIdempotencyKey');
  if (route.idempotency === 'honoured') names.push('IdempotencyKey');
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

function shapeOf(route: Route, part: 'params' | 'query'): Readonly<Record<string, unknown>> {
  const schema = route[part] ?? NO_FIELDS;
  if (!('shape' in schema)) throw new Error(`${route.name}: its ${part} are no object`);
  return Object(schema.shape);
}
