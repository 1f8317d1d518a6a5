import * as z from 'zod/mini';
import { EndpointStatus } from '../../domain/endpoint.ts';
import { EventTypeName } from '../../domain/events.ts';
import { ChannelId, DeliveryId, EndpointId, EventId } from '../../domain/ids.ts';
import { ATTEMPTS_FIELDS, DELIVERY_FIELDS } from '../delivery-schemas.ts';
import { listed, moment, orNull, PageQuery, timestamp } from '../fields.ts';

export const Event = z.object({
  id: EventId,
  type: EventTypeName,
  schemaVersion: z.int(),
  createdAt: timestamp,
  example: z.optional(z.literal(true)),
  data: z.record(z.string(), z.unknown()),
});

const { eventId, eventType, ...STATE_FIELDS } = DELIVERY_FIELDS;

export const EventDelivery = z.object({
  id: DeliveryId,
  webhookId: orNull(EndpointId),
  channelId: orNull(ChannelId),
  url: orNull(z.string()),
  receiverStatus: z.enum([...EndpointStatus.options, 'deleted']),
  ...STATE_FIELDS,
  ...ATTEMPTS_FIELDS,
});

export const EventWithDeliveries = z.extend(Event, {
  payload: z.string(),
  deliveries: z.array(EventDelivery),
});

export const EventOrder = z.enum(['asc', 'desc']);

export const ListEventsQuery = z.extend(PageQuery, {
  type: z.optional(listed(EventTypeName)),
  from: z.optional(moment),
  to: z.optional(moment),
  order: z.optional(EventOrder),
});
export const EventParams = z.object({ id: EventId });
