import * as z from 'zod/mini';
import { AttemptRecord, DeliveryStatus, TerminalReason, WebhookRequest } from '../../domain/delivery.ts';
import { DisabledReason, EndpointStatus } from '../../domain/endpoint.ts';
import { EventTypeName, SubscribableType } from '../../domain/events.ts';
import { DeliveryId, EndpointId, EventId } from '../../domain/ids.ts';
import { clamped, distinct, orNull, PageQuery, timestamp } from '../fields.ts';

/*
 * Shapes of the public API (public-api.md, Resources and their fields). A schema of an answer builds it: a field that it does not
 * name never leaves the service.
 */

const WebhookEvents = distinct(SubscribableType, ['an event type', 'event types']);

/** The rules of a URL are those of `receiver-url.ts`; they need the place's policy, so the use case applies them. */
export const RegisterWebhook = z.object({ url: z.string(), events: WebhookEvents });
export const UpdateWebhook = z.object({ url: z.optional(z.string()), events: z.optional(WebhookEvents) });

/** What is to come of an endpoint whose deliveries fail. */
export const Failing = z.object({ since: orNull(timestamp), failuresUntilDisabled: z.int() });

export const Webhook = z.object({
  id: EndpointId,
  url: z.string(),
  events: z.array(SubscribableType),
  status: EndpointStatus,
  consecutiveFailures: z.int(),
  failing: orNull(Failing),
  disabledAt: orNull(timestamp),
  disabledReason: orNull(DisabledReason),
  createdAt: timestamp,
});
/** Only the registration's answer has the secret. */
export const RegisteredWebhook = z.extend(Webhook, { secret: z.string() });

export const TestEvent = z.object({ eventId: EventId, deliveryId: DeliveryId });

/** Where time passes faster than it does, in a sandbox: when it would have been. */
export const DeliveryAtRealSpeed = z.object({
  nextRetryAt: orNull(timestamp),
  terminalAt: orNull(timestamp),
});
export const AttemptAtRealSpeed = z.object({ startedAt: timestamp, durationMs: z.int() });

export const Delivery = z.object({
  id: DeliveryId,
  webhookId: EndpointId,
  eventId: EventId,
  eventType: EventTypeName,
  status: DeliveryStatus,
  attempts: z.int(),
  nextRetryAt: orNull(timestamp),
  terminalAt: orNull(timestamp),
  terminalReason: orNull(TerminalReason),
  lastError: orNull(z.string()),
  lastResponseStatus: orNull(z.int()),
  redeliveryOf: orNull(DeliveryId),
  createdAt: timestamp,
  atRealSpeed: orNull(DeliveryAtRealSpeed),
});
/** With what it would have sent, if that is asked for and kept. */
export const ListedDelivery = z.extend(Delivery, { request: z.optional(WebhookRequest) });
export const ListDeliveriesQuery = z.extend(PageQuery, { include: z.optional(z.enum(['request'])) });
export const Attempt = z.extend(AttemptRecord, {
  status: orNull(z.int()),
  error: orNull(z.string()),
  response: orNull(z.string()),
  request: orNull(WebhookRequest),
  atRealSpeed: orNull(AttemptAtRealSpeed),
});
export const DeliveryWithAttempts = z.extend(Delivery, { attemptLog: z.array(Attempt) });

/** The ledger of deliveries, as its owner sees it. */
export const DeliveryCounts = z.object({
  owed: z.int(),
  pending: z.int(),
  succeeded: z.int(),
  exhausted: z.int(),
  skipped: z.int(),
  duplicates: z.int(),
});
export const DeliveryCountsOfHour = z.object({ hour: timestamp, ...DeliveryCounts.shape });
export const WebhookStats = z.object({
  webhookId: EndpointId,
  from: timestamp,
  to: timestamp,
  totals: DeliveryCounts,
  oldestPending: orNull(timestamp),
  hours: z.array(DeliveryCountsOfHour),
});

/** A week of hours at most: what is behind its ledger in a day or two is found by then. */
export const StatsQuery = z.object({ hours: clamped({ least: 1, most: 168, standard: 24 }) });

export const WebhookParams = z.object({ id: EndpointId });
export const DeliveryParams = z.object({ id: EndpointId, deliveryId: DeliveryId });
