import * as z from 'zod/mini';
import * as channels from '../../functions/api/channels/schemas.ts';
import * as conversations from '../../functions/api/conversations/schemas.ts';
import * as deliveries from '../../functions/api/delivery-schemas.ts';
import * as knowledge from '../../functions/api/knowledge/schemas.ts';
import * as redeliveries from '../../functions/api/redeliveries/schemas.ts';
import * as settings from '../../functions/api/settings/schemas.ts';
import * as tickets from '../../functions/api/tickets/schemas.ts';
import * as webhooks from '../../functions/api/webhooks/schemas.ts';
import * as widget from '../../functions/api/widget/schemas.ts';
import { WebhookRequest } from '../../functions/domain/delivery.ts';
import { EVENT_CATALOGUE, type EventType } from '../../functions/domain/events.ts';
import { OrgId } from '../../functions/domain/ids.ts';

/** What answers hold, by the names that the document gives them. */
export const RESOURCES = {
  Webhook: webhooks.Webhook,
  RegisteredWebhook: webhooks.RegisteredWebhook,
  Failing: deliveries.Failing,
  TestEvent: webhooks.TestEvent,
  Delivery: webhooks.Delivery,
  ListedDelivery: webhooks.ListedDelivery,
  DeliveryWithAttempts: webhooks.DeliveryWithAttempts,
  Attempt: deliveries.Attempt,
  WebhookRequest,
  DeliveryAtRealSpeed: deliveries.DeliveryAtRealSpeed,
  AttemptAtRealSpeed: deliveries.AttemptAtRealSpeed,
  WebhookStats: webhooks.WebhookStats,
  DeliveryStats: webhooks.DeliveryStats,
  EndpointStats: webhooks.EndpointStats,
  FailingUntil: webhooks.FailingUntil,
  Backlog: webhooks.Backlog,
  DeliveryCounts: webhooks.DeliveryCounts,
  DeliveryCountsOfHour: webhooks.DeliveryCountsOfHour,
  Redelivery: redeliveries.Redelivery,
  Conversation: conversations.Conversation,
  Message: conversations.Message,
  Escalation: conversations.Escalation,
  Channel: channels.Channel,
  CreatedChannel: channels.CreatedChannel,
  ChannelDelivery: channels.ChannelDelivery,
  ListedChannelDelivery: channels.ListedChannelDelivery,
  ChannelDeliveryWithAttempts: channels.ChannelDeliveryWithAttempts,
  VisitorToken: widget.VisitorToken,
  WidgetMessages: widget.WidgetMessages,
  WidgetMessage: widget.WidgetMessage,
  Ticket: tickets.Ticket,
  Source: knowledge.Source,
  SourceChanges: knowledge.SourceChanges,
  SourceVersion: knowledge.SourceVersion,
  Organization: settings.Organization,
  SignedIn: settings.SignedIn,
  Usage: settings.Usage,
  UsageOfMonth: settings.UsageOfMonth,
  ApiKey: settings.ApiKey,
  CreatedApiKey: settings.CreatedApiKey,
  Sandbox: settings.Sandbox,
  Purge: settings.Purge,
  ProvisionedSandbox: settings.ProvisionedSandbox,
  ResetSandbox: settings.ResetSandbox,
} as const;

/** What requests hold. */
export const BODIES = {
  RegisterWebhook: webhooks.RegisterWebhook,
  UpdateWebhook: webhooks.UpdateWebhook,
  StartRedelivery: redeliveries.StartRedelivery,
  CreateConversation: conversations.CreateConversation,
  CreateChannel: channels.CreateChannel,
  CreateMessage: conversations.CreateMessage,
  RequestHandoff: conversations.RequestHandoff,
  ResolveConversation: conversations.ResolveConversation,
  CreateTicket: tickets.CreateTicket,
  CreateSource: knowledge.CreateSource,
  UpdateOrganization: settings.UpdateOrganization,
  CreateApiKey: settings.CreateApiKey,
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
