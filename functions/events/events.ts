import * as z from 'zod/mini';
import {
  ChannelId,
  ConversationId,
  deriveEventId,
  EndpointId,
  EscalationId,
  EventId,
  isChannelId,
  MessageId,
  newId,
  OrgId,
  ReceiverId,
  TicketId,
  Timestamp,
  TraceId,
  withTrace,
} from '../aws/ids.ts';
import { ChannelMessageRole, MessageRole } from '../conversations/conversations.ts';
import type { Tenant } from '../tenancy/tenant.ts';

/** Days from its creation for which an event can be resent. Deliveries are kept as long. */
export const HISTORY_DAYS = 30;

/** Events that a request for the log can name. */
export const MAX_EVENT_IDS = 100;

/**
 * Days for which an event is kept. Each attempt reads the body, so an event outlives the attempts of a
 * delivery resent at the last moment: 63.5 minutes, and 51 hours under the slowest allowed retry policy.
 */
export const EVENT_DAYS = HISTORY_DAYS + 3;

/**
 * `subscribers`: endpoints that list the type in `events`. `endpoint`, `channel`: the one receiver that the
 * event names.
 */
type SentTo = 'subscribers' | 'endpoint' | 'channel';

interface EventTypeEntry<Data extends z.ZodMiniObject, To extends SentTo> {
  /** Version of the shape of `data`. A changed shape needs a new version. */
  schemaVersion: number;
  sentTo: To;
  /** Field of `data` with the id of the record of which this is the only event of its type. */
  record?: keyof z.infer<Data>;
  /** Schema that builds `data`. It drops fields that it does not list, so that nothing else can leak. */
  data: () => Data;
  /**
   * Fields of `data` sent to the bus: identifiers, and what rules or workers read. Texts stay in the tables,
   * because EventBridge and SQS limit message sizes. Without one, the event is not on the bus.
   */
  onBus: readonly (keyof z.infer<Data>)[];
  /** Title in the API document and the dashboard. */
  summary: string;
  description: string;
  fields: Readonly<Record<keyof z.infer<Data>, string>>;
  /** @returns a record with the fields of `data`; others are dropped */
  example(records: ReturnType<typeof createRecords>): z.infer<Data> & { createdAt: string };
}

/** Builds the schema on first use: most functions need only the names of the types. */
function eventType<Data extends z.ZodMiniObject, To extends SentTo>(entry: EventTypeEntry<Data, To>) {
  let schema: Data | undefined;
  return {
    ...entry,
    get data(): Data {
      schema ??= entry.data();
      return schema;
    },
  };
}

/**
 * All event types. Subscriptions, schemas and texts of the API document, bus events, and the lists of the
 * dashboard and of `conversations listen` derive from these entries.
 */
export const EVENT_CATALOGUE = {
  'conversation.created': eventType({
    schemaVersion: 1,
    sentTo: 'subscribers',
    record: 'conversationId',
    data: () =>
      z.object({ conversationId: ConversationId, channelId: z.string(), externalUserId: z.string() }),
    onBus: ['conversationId'],
    summary: 'A conversation started',
    description: 'A new conversation was started.',
    fields: {
      conversationId: 'The conversation.',
      channelId: 'The channel of the conversation.',
      externalUserId: 'The external user, as you name them.',
    },
    example: ({ conversation }) => ({ ...conversation, conversationId: conversation.id }),
  }),
  'message.received': eventType({
    schemaVersion: 1,
    sentTo: 'subscribers',
    record: 'messageId',
    data: () => z.object({ conversationId: ConversationId, messageId: MessageId, role: MessageRole }),
    onBus: ['conversationId', 'messageId', 'role'],
    summary: 'A message was recorded',
    description:
      'A message of any `role` was recorded in a conversation, including your own assistant’s. The content is not in the event; read the message with `messageId`.',
    fields: {
      conversationId: 'The conversation.',
      messageId: 'The message. Read its content with the API.',
      role: 'Role of the author.',
    },
    example: ({ message }) => ({ ...message, messageId: message.id }),
  }),
  'handoff.requested': eventType({
    schemaVersion: 1,
    sentTo: 'subscribers',
    record: 'escalationLogId',
    data: () =>
      z.object({
        conversationId: ConversationId,
        escalationLogId: EscalationId,
        reason: z.optional(z.string()),
      }),
    onBus: ['conversationId', 'escalationLogId'],
    summary: 'A conversation was handed off',
    description: 'A conversation was escalated to a human.',
    fields: {
      conversationId: 'The conversation.',
      escalationLogId: 'The escalation log entry.',
      reason: 'The reason; absent when not given.',
    },
    example: ({ escalation }) => ({ ...escalation, escalationLogId: escalation.id }),
  }),
  'ticket.created': eventType({
    schemaVersion: 1,
    sentTo: 'subscribers',
    record: 'ticketId',
    data: () =>
      z.object({
        ticketId: TicketId,
        conversationId: z.optional(ConversationId),
        reason: z.optional(z.string()),
      }),
    onBus: ['ticketId', 'conversationId'],
    summary: 'A ticket was created',
    description: 'A fallback ticket was created, with or without a conversation.',
    fields: {
      ticketId: 'The ticket.',
      conversationId: 'The conversation that led to it; absent when there is none.',
      reason: 'What the ticket is about; absent when not given.',
    },
    example: ({ ticket }) => ({ ...ticket, ticketId: ticket.id }),
  }),
  'conversation.resolved': eventType({
    schemaVersion: 1,
    sentTo: 'subscribers',
    data: () => z.object({ conversationId: ConversationId, resolvedBy: z.string() }),
    onBus: ['conversationId'],
    summary: 'A conversation was resolved',
    description:
      'A conversation was marked resolved. Resolving it again sends nothing. A message reopens it, and it can then be resolved again.',
    fields: {
      conversationId: 'The conversation.',
      resolvedBy: 'Who resolved it; `api` when the request did not name anyone.',
    },
    example: ({ resolvedConversation: { id, resolvedAt, resolvedBy } }) => ({
      createdAt: resolvedAt,
      conversationId: id,
      resolvedBy,
    }),
  }),
  'conversation.deleted': eventType({
    schemaVersion: 1,
    sentTo: 'subscribers',
    record: 'conversationId',
    data: () => z.object({ conversationId: ConversationId }),
    onBus: ['conversationId'],
    summary: 'A conversation was deleted',
    description:
      'A conversation was erased with its messages, on request or because of `retentionDays`. Erase what you stored of it; a response of 2xx confirms the event in the erasure’s receipt.',
    fields: { conversationId: 'The conversation, which can no longer be read.' },
    example: ({ conversation: { id, createdAt } }) => ({ createdAt, conversationId: id }),
  }),
  'webhook.failing': eventType({
    schemaVersion: 1,
    sentTo: 'subscribers',
    data: () => z.object({ webhookId: EndpointId }),
    onBus: [],
    summary: 'Deliveries to another endpoint fail',
    description:
      'Five deliveries in a row to another endpoint of the organization have failed. Five more disable it. Never sent to the affected endpoint.',
    fields: { webhookId: 'The affected endpoint.' },
    example: ({ predecessor: { id, disabledAt } }) => ({ createdAt: disabledAt, webhookId: id }),
  }),
  'webhook.disabled': eventType({
    schemaVersion: 1,
    sentTo: 'subscribers',
    data: () => z.object({ webhookId: EndpointId }),
    onBus: [],
    summary: 'Another endpoint was disabled',
    description:
      'Ten deliveries in a row to another endpoint of the organization have failed, which disabled it. Never sent to the affected endpoint.',
    fields: { webhookId: 'The affected endpoint.' },
    example: ({ predecessor: { id, disabledAt } }) => ({ createdAt: disabledAt, webhookId: id }),
  }),
  'webhook.recovered': eventType({
    schemaVersion: 1,
    sentTo: 'subscribers',
    data: () => z.object({ webhookId: EndpointId }),
    onBus: [],
    summary: 'Another endpoint has recovered',
    description:
      'A delivery to another endpoint of the organization has succeeded after five failures in a row or more. Never sent to the affected endpoint.',
    fields: { webhookId: 'The affected endpoint.' },
    example: ({ predecessor: { id, disabledAt } }) => ({ createdAt: disabledAt, webhookId: id }),
  }),
  'webhook.test': eventType({
    schemaVersion: 1,
    sentTo: 'endpoint',
    data: () => z.object({ webhookId: EndpointId }),
    onBus: ['webhookId'],
    summary: 'A test of an endpoint',
    description:
      'Sent by the test operation to one endpoint, regardless of its subscriptions. Signed, retried and recorded like every other event.',
    fields: { webhookId: 'The endpoint under test.' },
    example: ({ webhook, webhookTest: { createdAt } }) => ({ createdAt, webhookId: webhook.id }),
  }),
  'channel.test': eventType({
    schemaVersion: 1,
    sentTo: 'channel',
    data: () => z.object({ channelId: ChannelId }),
    onBus: ['channelId'],
    summary: 'A test of a channel',
    description:
      'Sent by the test operation to one channel of kind `http`. Signed, retried and recorded like every other event.',
    fields: { channelId: 'The channel under test.' },
    example: ({ channelMessage: { channelId, createdAt } }) => ({ createdAt, channelId }),
  }),
  /** Delivers a message with its content to the conversation's channel. */
  'channel.message': eventType({
    schemaVersion: 1,
    sentTo: 'channel',
    record: 'messageId',
    data: () =>
      z.object({
        channelId: ChannelId,
        conversationId: ConversationId,
        messageId: MessageId,
        externalUserId: z.string(),
        role: ChannelMessageRole,
        content: z.string(),
      }),
    onBus: ['channelId', 'conversationId', 'messageId', 'role'],
    summary: 'A message for a channel',
    description:
      'An agent or the assistant wrote in a conversation of the channel. Sent to channels of kind `http` only; endpoints cannot subscribe to it.',
    fields: {
      channelId: 'The channel that receives it.',
      conversationId: 'The conversation.',
      messageId: 'The message.',
      externalUserId: 'The external user of the conversation.',
      role: 'Role of the author.',
      content: 'Text of the message.',
    },
    example: ({ channelMessage }) => channelMessage,
  }),
};

type Catalogue = typeof EVENT_CATALOGUE;
export type EventType = keyof Catalogue;
export type EventData<T extends EventType> = z.infer<Catalogue[T]['data']>;
/** Types of the tests that a user sends to a receiver. */
export const TEST_TYPES: readonly EventType[] = ['webhook.test', 'channel.test'];
export type SubscribableType = {
  [T in EventType]: Catalogue[T]['sentTo'] extends 'subscribers' ? T : never;
}[EventType];

// Marked as pure so that the bundler can drop the catalogue where it is unused.
const EVENT_TYPES = /* @__PURE__ */ Object.keys(EVENT_CATALOGUE) as EventType[];
const isSubscribable = (type: EventType): type is SubscribableType =>
  EVENT_CATALOGUE[type].sentTo === 'subscribers';

/** Types that an endpoint may list in `events`. */
export const SubscribableType = z.enum(/* @__PURE__ */ EVENT_TYPES.filter(isSubscribable));
export const EventTypeName = z.enum(EVENT_TYPES);

/** The lists of an endpoint's filter, each with the field of `data` that it is for. */
const FILTER_FIELDS = { channelIds: 'channelId', roles: 'role' } as const;

/** Which events of its types an endpoint gets: those whose value is in each list that is given. */
export const EventFilter = z.object({
  channelIds: z.optional(z.array(z.string())),
  roles: z.optional(z.array(MessageRole)),
});
export type EventFilter = z.infer<typeof EventFilter>;

/**
 * Values of an event that decide which of its subscribers get it: those by which endpoints filter, and the
 * endpoint that it is about, which never gets it. A type without a field has no value.
 */
const VALUES = ['channelId', 'role', 'webhookId'] as const;
export const FilterValues = z.partialRecord(z.enum(VALUES), z.string());
export type FilterValues = z.infer<typeof FilterValues>;

/** An event in the outbox. `body` is the exact text that every attempt signs and sends. */
export const OutboxEvent = z.object({
  id: EventId,
  orgId: OrgId,
  generation: z.int(),
  type: EventTypeName,
  createdAt: Timestamp,
  body: z.string(),
  /** The only receiver of the event; see `isFor`. */
  onlyTo: z.optional(ReceiverId),
  filterValues: z.optional(FilterValues),
  /** Whose erasure erases the event; absent from the event about the erasure. */
  conversationId: z.optional(ConversationId),
  /** Set when its conversation was erased: `body` has identifiers only. */
  erased: z.optional(z.literal(true)),
  traceId: TraceId,
});
export type OutboxEvent = z.infer<typeof OutboxEvent>;

/** What of an event decides whom it is for. */
export type AddressedEvent = Pick<OutboxEvent, 'type' | 'onlyTo' | 'filterValues' | 'erased'>;

/** What of a receiver decides which events are for it. */
export interface Subscriber {
  readonly id: string;
  readonly events: readonly EventType[];
  readonly filter?: EventFilter | undefined;
}

/** Why an event is not for a receiver. */
export type Exclusion = 'for_another' | 'erased' | 'about_itself' | 'not_subscribed' | 'filtered';

/**
 * Whether an event is for a receiver: an endpoint, a channel or the bus. Everything that reads the outbox
 * asks this, and a dispatcher asks again before each attempt. An event that names its receiver is for no
 * other one. Its receiver gets a test or a channel's message regardless of subscriptions, and an example only
 * while it subscribes to the type.
 */
export const isFor = (event: AddressedEvent, receiver: Subscriber): boolean =>
  findExclusion(event, receiver) === undefined;

/** Why an event is not for a receiver; undefined when it is. */
export function findExclusion(
  { type, onlyTo, filterValues = {}, erased }: AddressedEvent,
  { id, events, filter = {} }: Subscriber,
): Exclusion | undefined {
  if (onlyTo !== undefined && onlyTo !== id) return 'for_another';
  if (erased) return 'erased';
  if (filterValues.webhookId === id) return 'about_itself';
  if (!events.includes(type) && !(onlyTo !== undefined && !isSubscribable(type))) return 'not_subscribed';
  const passes = LISTS.every((list) => {
    const value = filterValues[FILTER_FIELDS[list]];
    const wanted: readonly string[] | undefined = filter[list];
    return value === undefined || wanted === undefined || wanted.includes(value);
  });
  return passes ? undefined : 'filtered';
}

const LISTS = /* @__PURE__ */ Object.keys(FILTER_FIELDS) as (keyof typeof FILTER_FIELDS)[];

/** The one receiver that an event names; undefined for an event that its subscribers get. */
export const getNamedReceiver = ({ onlyTo }: AddressedEvent): ReceiverId | undefined => onlyTo;

/** Whether an event is an example, which one endpoint gets although its type has subscribers. */
export const isExample = ({ type, onlyTo }: AddressedEvent): boolean =>
  onlyTo !== undefined && isSubscribable(type);

/** All types of the events that can be for a receiver: a filter for readers that then ask `isFor`. */
export const listTypesFor = ({ id, events }: Subscriber): EventType[] => [
  ...events,
  ...EVENT_TYPES.filter(
    (type) => EVENT_CATALOGUE[type].sentTo === (isChannelId(id) ? 'channel' : 'endpoint'),
  ),
];

/**
 * Builds an event and serializes its body once.
 * @param data filtered by the type's schema
 * @throws a zod error when a listed field is missing or has the wrong type (a defect of the caller)
 */
export function buildEvent<T extends EventType>(
  type: T,
  data: EventData<T>,
  {
    tenant: { orgId, generation },
    now,
    onlyTo,
    traceId,
    id,
  }: {
    tenant: Tenant;
    now: Date;
    onlyTo?: ReceiverId;
    traceId?: TraceId | undefined;
    id?: EventId;
  },
): OutboxEvent {
  const createdAt = now.toISOString();
  const {
    schemaVersion,
    data: allowlist,
    record,
  } = EVENT_CATALOGUE[type] as Catalogue[T] & {
    record?: string;
  };
  const allowed: Record<string, unknown> = allowlist.parse(data);
  const body = JSON.stringify({ type, schemaVersion, orgId, createdAt, data: allowed });
  const filterValues = isSubscribable(type) ? FilterValues.parse(pickFilterFields(allowed)) : {};
  const about = type === 'conversation.deleted' ? undefined : allowed.conversationId;
  const { data: conversationId } = ConversationId.safeParse(about);
  return {
    id:
      id ??
      (record === undefined
        ? newId('evt', now)
        : deriveEventId(type, allowed[record] as `cnv_${string}`, now)),
    orgId,
    generation,
    type,
    createdAt,
    body,
    ...(onlyTo === undefined ? {} : { onlyTo }),
    ...(Object.keys(filterValues).length > 0 && { filterValues }),
    ...(conversationId && { conversationId }),
    ...withTrace(traceId),
  };
}

const pickFilterFields = (data: Record<string, unknown>) =>
  Object.fromEntries(VALUES.flatMap((field) => (field in data ? [[field, data[field]]] : [])));

/**
 * Records that an example event is about; the API document has others (lib/openapi/example-values.ts). Their
 * identifiers are new and name nothing.
 */
function createRecords(webhookId: EndpointId, now: Date, filter: EventFilter = {}) {
  const createdAt = now.toISOString();
  const conversationId = newId('cnv', now);
  const channelId = newId('chn', now);
  const role = filter.roles?.[0] ?? 'user';
  const messageId = newId('msg', now);
  const externalUserId = 'example-visitor';
  const reason = 'An example: the visitor asks for a person.';
  return {
    conversation: {
      ...{ id: conversationId, channelId: filter.channelIds?.[0] ?? channelId, externalUserId, createdAt },
    },
    resolvedConversation: { id: conversationId, resolvedAt: createdAt, resolvedBy: 'api' },
    message: { id: messageId, conversationId, role, createdAt },
    escalation: { id: newId('esc', now), conversationId, reason, createdAt },
    ticket: { id: newId('tkt', now), conversationId, reason, createdAt },
    webhook: { id: webhookId },
    webhookTest: { createdAt },
    predecessor: { id: newId('whk', now), disabledAt: createdAt },
    channelMessage: {
      createdAt,
      channelId,
      conversationId,
      messageId,
      externalUserId,
      role: 'agent' as z.infer<typeof ChannelMessageRole>,
      content: '',
    },
  };
}

/**
 * Builds an example of a type for one endpoint, which passes its filter. Its payload has the fields of a real
 * event.
 */
export function buildExampleEvent(
  type: SubscribableType,
  webhookId: EndpointId,
  {
    filter,
    ...context
  }: { tenant: Tenant; now: Date; traceId: TraceId | undefined; filter?: EventFilter | undefined },
): OutboxEvent {
  const records = createRecords(webhookId, context.now, filter);
  const { createdAt, ...data } = EVENT_CATALOGUE[type].example(records);
  return buildEvent(type, data, { ...context, onlyTo: webhookId });
}

const EventBody = z.object({ schemaVersion: z.int(), data: z.record(z.string(), z.unknown()) });

/** @throws a zod error when the body is not an event's */
export const parseEventBody = (body: string): z.infer<typeof EventBody> => EventBody.parse(JSON.parse(body));

/** Returns what is left of an event of an erased conversation: its identifiers, and no texts. */
export function eraseEvent({ filterValues, ...event }: OutboxEvent): OutboxEvent {
  const { data, ...envelope } = z.looseObject({ data: EventBody.shape.data }).parse(JSON.parse(event.body));
  const { onBus }: { onBus: readonly string[] } = EVENT_CATALOGUE[event.type];
  const left = Object.fromEntries(Object.entries(data).filter(([field]) => onBus.includes(field)));
  return { ...event, body: JSON.stringify({ ...envelope, data: left }), erased: true };
}

/** Returns the event as the event log shows it. Older versions of a type keep their shape. */
export const toEventView = ({ id, type, createdAt, body, onlyTo, erased }: OutboxEvent) => ({
  id,
  type,
  ...parseEventBody(body),
  createdAt,
  ...(isExample({ type, onlyTo }) ? { example: true as const } : {}),
  ...(erased && { erased }),
});

/** A part of a stream's shard, ends included, whose records an event source mapping has discarded. */
const DiscardedRecords = z.object({
  streamArn: z.string(),
  shardId: z.string(),
  startSequenceNumber: z.string(),
  endSequenceNumber: z.string(),
});
export type DiscardedRecords = z.infer<typeof DiscardedRecords>;

/** Key of an outbox entry. */
export const EntryKey = z.object({ pk: z.string(), sk: z.string() });
export type EntryKey = z.infer<typeof EntryKey>;

/**
 * A dead letter of the outbox's stream: a range of stream records, as Lambda's failure destination writes it,
 * or the keys of outbox entries that a reader postponed.
 */
export const DeadLetter = z.union([
  z.pipe(
    z.object({ DDBStreamBatchInfo: DiscardedRecords }),
    z.transform(({ DDBStreamBatchInfo: records }) => ({ kind: 'records' as const, records })),
  ),
  z.object({ kind: z.literal('entries'), keys: z.array(EntryKey) }),
]);
export type DeadLetter = z.infer<typeof DeadLetter>;
