import * as z from 'zod/mini';
import { ChannelId, DeliveryId, EndpointId, EventId, Timestamp } from '../../aws/ids.ts';
import { Undelivered } from '../../delivery/delivery.ts';
import { EventTypeName, MAX_EVENT_IDS } from '../../events/events.ts';
import type { Route } from '../../http/route.ts';
import { EndpointStatus } from '../../receivers/endpoint.ts';
import {
  ATTEMPTS_FIELDS,
  DELIVERY_FIELDS,
  listed,
  listedIds,
  moment,
  orNull,
  PageQuery,
  SortOrder,
} from '../fields.ts';
import { EventRecord } from '../records.ts';

const LoggedEvent = z.object({
  id: EventId,
  type: EventTypeName,
  schemaVersion: z.int(),
  createdAt: Timestamp,
  example: z.optional(z.literal(true)),
  erased: z.optional(z.literal(true)),
  data: z.record(z.string(), z.unknown()),
});

/** Why an event comes without its record. */
export const RecordOmission = z.enum(['missing_scope', 'deleted', 'no_record']);

/** If requested, one of the two. */
const RECORD_FIELDS = { record: z.optional(EventRecord), recordOmitted: z.optional(RecordOmission) };

const { eventId, eventType, ...STATE_FIELDS } = DELIVERY_FIELDS;

export const ListedEventDelivery = z.object({
  id: DeliveryId,
  webhookId: orNull(EndpointId),
  channelId: orNull(ChannelId),
  url: orNull(z.string()),
  receiverStatus: z.enum([...EndpointStatus.options, 'deleted']),
  ...STATE_FIELDS,
});
export const EventDelivery = z.extend(ListedEventDelivery, ATTEMPTS_FIELDS);

/** An endpoint that did not get an event. */
export const UndeliveredTo = z.object({
  webhookId: EndpointId,
  url: z.string(),
  receiverStatus: z.enum([...EndpointStatus.options, 'deleted']),
  reason: Undelivered,
});

/** An event of a list, with its record and its deliveries if requested. */
export const Event = z.extend(LoggedEvent, {
  ...RECORD_FIELDS,
  deliveries: z.optional(z.array(ListedEventDelivery)),
});

export const EventWithDeliveries = z.extend(LoggedEvent, {
  ...RECORD_FIELDS,
  payload: z.string(),
  deliveries: z.array(EventDelivery),
  undelivered: z.array(UndeliveredTo),
});

export const EventInclude = z.enum(['deliveries', 'record', 'deliveries,record']);
export const RecordInclude = z.enum(['record']);

export const ListEventsQuery = z.extend(PageQuery, {
  type: z.optional(listed(EventTypeName)),
  from: z.optional(moment),
  to: z.optional(moment),
  order: z.optional(SortOrder),
  ids: z.optional(listedIds(EventId, MAX_EVENT_IDS)),
  include: z.optional(EventInclude),
});

export const listEvents = {
  name: 'list-events',
  method: 'GET',
  path: '/v1/events',
  scope: 'read:webhooks',
  dashboard: 'member',
  query: ListEventsQuery,
  success: { status: 200, followed: true, data: z.array(Event) },
} as const satisfies Route;

export const readEvent = {
  name: 'read-event',
  method: 'GET',
  path: '/v1/events/{id}',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: z.object({ id: EventId }),
  query: z.object({ include: z.optional(RecordInclude) }),
  success: { status: 200, data: EventWithDeliveries },
} as const satisfies Route;
