import * as z from 'zod/mini';
import { DeliveryId, EndpointId, EventId, Timestamp } from '../../aws/ids.ts';
import { SubscribableType } from '../../events/events.ts';
import { DisabledReason, EndpointStatus, MAX_DESCRIPTION_LENGTH } from '../../receivers/endpoint.ts';
import { MaxPerSecond } from '../../receivers/endpoint-rate.ts';
import { ATTEMPTS_FIELDS, DELIVERY_FIELDS, Failing, LISTED_FIELDS } from '../delivery-schemas.ts';
import { clamped, distinct, note, orNull, receiverUrl } from '../fields.ts';

const WebhookEvents = distinct(SubscribableType, ['an event type', 'event types']);

const Description = note(MAX_DESCRIPTION_LENGTH);

export const RegisterWebhook = z.strictObject({
  url: receiverUrl,
  events: WebhookEvents,
  description: z.optional(Description),
  maxPerSecond: z.optional(MaxPerSecond),
});
export const UpdateWebhook = z.strictObject({
  url: z.optional(receiverUrl),
  events: z.optional(WebhookEvents),
  description: z.optional(z.nullable(Description)),
  maxPerSecond: z.optional(z.nullable(MaxPerSecond)),
});

/** Fields that the audit log shows. */
export const WEBHOOK_SETTINGS = Object.keys(RegisterWebhook.shape);

export const Predecessor = z.object({
  id: EndpointId,
  failingSince: orNull(Timestamp),
  disabledAt: Timestamp,
});

export const Webhook = z.object({
  id: EndpointId,
  url: z.string(),
  events: z.array(SubscribableType),
  description: orNull(z.string()),
  maxPerSecond: orNull(z.int()),
  status: EndpointStatus,
  consecutiveFailures: z.int(),
  failing: orNull(Failing),
  disabledAt: orNull(Timestamp),
  disabledReason: orNull(DisabledReason),
  predecessor: orNull(Predecessor),
  createdAt: Timestamp,
});
/** The only response with the secret. */
export const RegisteredWebhook = z.extend(Webhook, { secret: z.string() });

const TEST = 'webhook.test';
export const TestWebhook = z._default(
  z.strictObject({ type: z._default(z.enum([TEST, ...SubscribableType.options]), TEST) }),
  { type: TEST },
);
export const TestEvent = z.object({ eventId: EventId, deliveryId: DeliveryId });

export const Delivery = z.extend(z.object({ id: DeliveryId, webhookId: EndpointId }), DELIVERY_FIELDS);
export const ListedDelivery = z.extend(Delivery, LISTED_FIELDS);
export const DeliveryWithAttempts = z.extend(Delivery, ATTEMPTS_FIELDS);

export const DeliveryCounts = z.object({
  owed: z.int(),
  pending: z.int(),
  succeeded: z.int(),
  exhausted: z.int(),
  skipped: z.int(),
  duplicates: z.int(),
});
export const Latency = z.object({ p50Ms: z.int(), p95Ms: z.int() });
export const DeliveryCountsOfHour = z.object({ hour: Timestamp, ...DeliveryCounts.shape });
export const WebhookStats = z.object({
  webhookId: EndpointId,
  from: Timestamp,
  to: Timestamp,
  totals: DeliveryCounts,
  latency: orNull(Latency),
  oldestPending: orNull(Timestamp),
  hours: z.array(DeliveryCountsOfHour),
});

export const Backlog = z.object({ pending: z.int(), oldestPending: orNull(Timestamp) });
export const FailingUntil = z.extend(Failing, { disablesAt: orNull(Timestamp) });
export const EndpointStats = z.object({
  webhookId: EndpointId,
  url: z.string(),
  status: EndpointStatus,
  consecutiveFailures: z.int(),
  failing: orNull(FailingUntil),
  disabledAt: orNull(Timestamp),
  disabledReason: orNull(DisabledReason),
  totals: DeliveryCounts,
  latency: orNull(Latency),
  oldestPending: orNull(Timestamp),
  waitingSince: orNull(Timestamp),
});
export const DeliveryStats = z.object({
  from: Timestamp,
  to: Timestamp,
  totals: DeliveryCounts,
  latency: orNull(Latency),
  backlog: Backlog,
  hours: z.array(DeliveryCountsOfHour),
  endpoints: z.array(EndpointStats),
});

/** Up to one week. */
export const StatsQuery = z.object({ hours: clamped({ least: 1, most: 168, standard: 24 }) });

export const WebhookParams = z.object({ id: EndpointId });
export const DeliveryParams = z.object({ id: EndpointId, deliveryId: DeliveryId });
