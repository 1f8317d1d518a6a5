import * as z from 'zod/mini';
import { AttemptRecord, DeliveryStatus, TerminalReason } from '../../domain/delivery.ts';
import { EndpointStatus } from '../../domain/endpoint.ts';
import { EventTypeName, SubscribableType } from '../../domain/events.ts';
import { DeliveryId, EndpointId, EventId } from '../../domain/ids.ts';
import { distinct, orNull, timestamp } from '../fields.ts';

/*
 * Shapes of the public API (public-api.md, Resources and their fields). A schema of an answer builds it: a field that it does not
 * name never leaves the service.
 */

const WebhookEvents = distinct(SubscribableType, ['an event type', 'event types']);

/** The rules of a URL are those of `receiver-url.ts`; they need the place's policy, so the use case applies them. */
export const RegisterWebhook = z.object({ url: z.string(), events: WebhookEvents });
export const UpdateWebhook = z.object({ url: z.optional(z.string()), events: z.optional(WebhookEvents) });

export const Webhook = z.object({
  id: EndpointId,
  url: z.string(),
  events: z.array(SubscribableType),
  status: EndpointStatus,
  consecutiveFailures: z.int(),
  createdAt: timestamp,
});
/** Only the registration's answer has the secret. */
export const RegisteredWebhook = z.extend(Webhook, { secret: z.string() });

export const TestEvent = z.object({ eventId: EventId, deliveryId: DeliveryId });

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
});
export const Attempt = z.extend(AttemptRecord, {
  status: orNull(z.int()),
  error: orNull(z.string()),
  response: orNull(z.string()),
});
export const DeliveryWithAttempts = z.extend(Delivery, { attemptLog: z.array(Attempt) });

export const WebhookParams = z.object({ id: EndpointId });
export const DeliveryParams = z.object({ id: EndpointId, deliveryId: DeliveryId });
