import * as z from 'zod/mini';
import { Scope } from '../domain/api-key.ts';
import { ConversationStatus } from '../domain/conversation.ts';
import { AttemptRecord, DeliveryStatus, TerminalReason } from '../domain/delivery.ts';
import { EndpointStatus } from '../domain/endpoint.ts';
import { EventTypeName, MessageRole, SUBSCRIBABLE, SubscribableType } from '../domain/events.ts';
import {
  ConversationId,
  DeliveryId,
  EndpointId,
  EscalationId,
  EventId,
  KeyId,
  MessageId,
  OrgId,
  TicketId,
} from '../domain/ids.ts';
import { Environment, OrganizationSettings, Tier } from '../domain/tenant.ts';

/*
 * The shapes of the public API (public-api.md, Resources and their fields), read by the route table. A schema of an answer
 * builds it: a field that it does not name never leaves the service.
 */

/** Lone surrogates are no text that UTF-8, and with it DynamoDB, can hold. */
const text = (maximum: number) =>
  z.string().check(
    z.minLength(1),
    z.maxLength(maximum),
    z.refine((given) => given.isWellFormed(), { error: 'must be text without lone surrogates' }),
  );
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

export const CreateConversation = z.object({ channelId: text(200), externalUserId: text(200) });
export const Conversation = z.object({
  id: ConversationId,
  channelId: z.string(),
  externalUserId: z.string(),
  status: ConversationStatus,
  resolvedAt: orNull(timestamp),
  resolvedBy: orNull(z.string()),
  createdAt: timestamp,
});

/** Both may come without a body: everything in it is optional. */
export const RequestHandoff = z._default(z.object({ reason: z.optional(text(1000)) }), {});
export const ResolveConversation = z._default(z.object({ resolvedBy: z._default(text(200), 'api') }), {
  resolvedBy: 'api',
});

export const Escalation = z.object({
  id: EscalationId,
  conversationId: ConversationId,
  reason: orNull(z.string()),
  createdAt: timestamp,
});

export const CreateTicket = z._default(
  z.object({ conversationId: z.optional(ConversationId), reason: z.optional(text(1000)) }),
  {},
);
export const Ticket = z.object({
  id: TicketId,
  conversationId: orNull(ConversationId),
  reason: orNull(z.string()),
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

export const Organization = z.object({
  id: OrgId,
  name: z.string(),
  environment: Environment,
  tier: Tier,
  ...OrganizationSettings.shape,
  createdAt: timestamp,
});
export const UpdateOrganization = z.partial(OrganizationSettings);

export const CreateApiKey = z.object({
  name: text(200),
  scopes: z.array(Scope, { error: 'must be an array of scopes' }).check(
    z.minLength(1),
    z.maxLength(Scope.options.length),
    z.refine((scopes) => new Set(scopes).size === scopes.length, { error: 'must not name a scope twice' }),
  ),
});
const apiKeyFields = {
  id: KeyId,
  environment: Environment,
  name: z.string(),
  scopes: z.array(Scope),
  createdAt: timestamp,
  revokedAt: orNull(timestamp),
};
export const ApiKey = z.object(apiKeyFields);
/** Only the answer to its creation has the key itself. */
export const CreatedApiKey = z.object({ ...apiKeyFields, secretOnce: z.string() });

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
export const MessageParams = z.object({ id: ConversationId, messageId: MessageId });
export const EscalationParams = z.object({ id: ConversationId, escalationLogId: EscalationId });
export const TicketParams = z.object({ id: TicketId });
export const ApiKeyParams = z.object({ id: KeyId });
