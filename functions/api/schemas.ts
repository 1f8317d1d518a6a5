import * as z from 'zod/mini';
import { ConversationStatus } from '../domain/conversation.ts';
import { AttemptRecord, DeliveryStatus, TerminalReason } from '../domain/delivery.ts';
import { EndpointStatus } from '../domain/endpoint.ts';
import { EventTypeName, MessageRole, SUBSCRIBABLE, SubscribableType } from '../domain/events.ts';
import { ConversationId, DeliveryId, EndpointId, EventId, MessageId } from '../domain/ids.ts';

/*
 * The shapes of the public API (public-api.md, Resources and their fields), read by the route table. A schema of an answer
 * builds it: a field that it does not name never leaves the service.
 */

const text = (maximum: number) => z.string().check(z.minLength(1), z.maxLength(maximum));
const timestamp = z.iso.datetime();
const orNull = <T extends z.ZodMiniType>(schema: T) => z._default(z.nullable(schema), null);

export const WebhookEvents = z.array(SubscribableType, { error: 'must be an array of event types' }).check(
  z.minLength(1),
  z.maxLength(SUBSCRIBABLE.length),
  z.refine((events) => new Set(events).size === events.length, {
    error: 'must not name an event type twice',
  }),
);

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

export const CreateConversation = z.object({ channelId: text(200), externalUserId: text(200) });
export const Conversation = z.object({
  id: ConversationId,
  channelId: z.string(),
  externalUserId: z.string(),
  status: ConversationStatus,
  createdAt: timestamp,
});

/** Beyond the body's limit of 256 KiB a message has one of its own, so that a row stays below DynamoDB's 400 KB. */
export const CreateMessage = z.object({ role: MessageRole, content: text(100_000) });
export const Message = z.object({
  id: MessageId,
  conversationId: ConversationId,
  role: MessageRole,
  content: z.string(),
  createdAt: timestamp,
});

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** A page's query: `limit` is clamped, never refused, unless it is not an integer (decisions.md, Pagination). */
export const PageQuery = z.object({
  limit: z.pipe(
    z._default(z.string().check(z.regex(/^([+-]?\d+)?$/, { error: 'must be an integer' })), ''),
    z.transform((limit) => (limit === '' ? DEFAULT_LIMIT : Math.min(Math.max(Number(limit), 1), MAX_LIMIT))),
  ),
  cursor: z.optional(z.string()),
});
export const NoQuery = z.object({});

export const NoParams = z.object({});
export const WebhookParams = z.object({ id: EndpointId });
export const DeliveryParams = z.object({ id: EndpointId, deliveryId: DeliveryId });
export const ConversationParams = z.object({ id: ConversationId });
