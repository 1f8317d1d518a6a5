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

const webhookFields = {
  id: EndpointId,
  url: z.string(),
  events: z.array(SubscribableType),
  status: EndpointStatus,
  consecutiveFailures: z.int(),
  createdAt: timestamp,
};
export const Webhook = z.object(webhookFields);
/** Only the registration's answer has the secret. */
export const RegisteredWebhook = z.object({ ...webhookFields, secret: z.string() });

export const TestEvent = z.object({ eventId: EventId, deliveryId: DeliveryId });

const deliveryFields = {
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
};
export const Delivery = z.object(deliveryFields);
export const DeliveryWithAttempts = z.object({
  ...deliveryFields,
  attemptLog: z.array(
    z.object({
      ...AttemptRecord.shape,
      status: orNull(z.int()),
      error: orNull(z.string()),
      response: orNull(z.string()),
    }),
  ),
});

export const WebhookParams = z.object({ id: EndpointId });
export const DeliveryParams = z.object({ id: EndpointId, deliveryId: DeliveryId });
