import * as z from 'zod/mini';
import * as schema from '../../functions/api/schemas.ts';
import { EVENT_CATALOGUE, type EventType } from '../../functions/domain/events.ts';
import { OrgId } from '../../functions/domain/ids.ts';

/** What answers hold, by the names that the document gives them. */
export const RESOURCES = {
  Webhook: schema.Webhook,
  RegisteredWebhook: schema.RegisteredWebhook,
  TestEvent: schema.TestEvent,
  Delivery: schema.Delivery,
  DeliveryWithAttempts: schema.DeliveryWithAttempts,
  Attempt: schema.DeliveryWithAttempts.shape.attemptLog.def.element,
  Conversation: schema.Conversation,
  Message: schema.Message,
  Escalation: schema.Escalation,
  Ticket: schema.Ticket,
  Organization: schema.Organization,
  ApiKey: schema.ApiKey,
  CreatedApiKey: schema.CreatedApiKey,
} as const;

/** What requests hold. */
export const BODIES = {
  RegisterWebhook: schema.RegisterWebhook,
  UpdateWebhook: schema.UpdateWebhook,
  CreateConversation: schema.CreateConversation,
  CreateMessage: schema.CreateMessage,
  RequestHandoff: schema.RequestHandoff,
  ResolveConversation: schema.ResolveConversation,
  CreateTicket: schema.CreateTicket,
  UpdateOrganization: schema.UpdateOrganization,
  CreateApiKey: schema.CreateApiKey,
} as const;

export const EVENT_TYPES = Object.keys(EVENT_CATALOGUE) as EventType[];

/** `conversation.created` is `ConversationCreatedEvent`. */
export const eventSchemaName = (type: EventType): string =>
  `${type.replaceAll(/(^|\.)./g, (letter) => letter.slice(-1).toUpperCase())}Event`;

/** The body of a delivery (public-api.md, Event envelope). */
const eventEnvelope = (type: EventType) =>
  z.object({
    type: z.literal(type),
    schemaVersion: z.literal(EVENT_CATALOGUE[type].schemaVersion),
    orgId: OrgId,
    createdAt: z.iso.datetime(),
    data: EVENT_CATALOGUE[type].data,
  });

export const EVENTS: Record<string, z.ZodMiniType> = Object.fromEntries(
  EVENT_TYPES.map((type) => [eventSchemaName(type), eventEnvelope(type)]),
);
