import * as z from 'zod/mini';
import { DeliveryId, EndpointId, EventId, RedeliveryJobId, Timestamp } from '../../aws/ids.ts';
import { MAX_CHANNEL_LENGTH, MessageRole } from '../../conversations/conversations.ts';
import { EventTypeName, SubscribableType } from '../../events/events.ts';
import type { Route } from '../../http/route.ts';
import {
  DisabledReason,
  EndpointStatus,
  MAX_DESCRIPTION_LENGTH,
  MaxPerSecond,
} from '../../receivers/endpoint.ts';
import { RedeliveryJobStatus, RedeliverySelection, ResentStatus, StopReason } from '../../redelivery/jobs.ts';
import {
  ATTEMPTS_FIELDS,
  clamped,
  DELIVERY_FIELDS,
  distinct,
  Failing,
  LISTED_FIELDS,
  ListDeliveriesQuery,
  note,
  orNull,
  PageQuery,
  receiverUrl,
  requestTime,
  text,
  withoutRepetition,
} from '../fields.ts';

const WebhookEvents = distinct(SubscribableType, ['an event type', 'event types']);
/** Channels of a filter. */
const MAX_CHANNELS = 20;
/** Values that an event's fields must have; a type without a field passes its list. */
export const EventFilter = z.strictObject({
  channelIds: z.optional(
    z
      .array(text(MAX_CHANNEL_LENGTH))
      .check(z.minLength(1), z.maxLength(MAX_CHANNELS), withoutRepetition('a channel')),
  ),
  roles: z.optional(distinct(MessageRole, ['a role', 'roles'])),
});
const Description = note(MAX_DESCRIPTION_LENGTH);

const SETTINGS = {
  url: receiverUrl,
  events: WebhookEvents,
  filter: z.optional(EventFilter),
  description: z.optional(Description),
  maxPerSecond: z.optional(MaxPerSecond),
};
/** Whose missed events a new endpoint is sent. */
export const RecoverFrom = z.enum(['predecessor']);
export const RegisterWebhook = z.strictObject({ ...SETTINGS, recover: z.optional(RecoverFrom) });
export const UpdateWebhook = z.strictObject({
  url: z.optional(receiverUrl),
  events: z.optional(WebhookEvents),
  filter: z.optional(z.nullable(EventFilter)),
  description: z.optional(z.nullable(Description)),
  maxPerSecond: z.optional(z.nullable(MaxPerSecond)),
  paused: z.optional(z.boolean()),
});

/** Fields that the audit log shows. */
export const WEBHOOK_SETTINGS = Object.keys(SETTINGS);

export const Predecessor = z.object({
  id: EndpointId,
  failingSince: orNull(Timestamp),
  disabledAt: Timestamp,
});

export const Webhook = z.object({
  id: EndpointId,
  url: z.string(),
  events: z.array(SubscribableType),
  filter: orNull(EventFilter),
  description: orNull(z.string()),
  maxPerSecond: orNull(z.int()),
  status: EndpointStatus,
  consecutiveFailures: z.int(),
  failing: orNull(Failing),
  pausedAt: orNull(Timestamp),
  disabledAt: orNull(Timestamp),
  disabledReason: orNull(DisabledReason),
  predecessor: orNull(Predecessor),
  createdAt: Timestamp,
});
export const Redelivery = z.object({
  id: RedeliveryJobId,
  webhookId: EndpointId,
  status: RedeliveryJobStatus,
  reason: orNull(StopReason),
  from: Timestamp,
  to: Timestamp,
  what: RedeliverySelection,
  dryRun: z._default(z.boolean(), false),
  statuses: z.array(ResentStatus),
  examined: z.int(),
  redelivered: z.int(),
  eventTypes: z.array(z.object({ type: EventTypeName, count: z.int() })),
  firstEventAt: orNull(Timestamp),
  progress: z.number(),
  createdAt: Timestamp,
  finishedAt: orNull(Timestamp),
});

/** With the redelivery job that the request has started. */
export const UpdatedWebhook = z.extend(Webhook, { redelivery: orNull(Redelivery) });
/** The only response with the secret. */
export const RegisteredWebhook = z.extend(UpdatedWebhook, { secret: z.string() });

const TEST = 'webhook.test';
const TestType = /* @__PURE__ */ (() => z.enum([TEST, ...SubscribableType.options]))();
export const TestWebhook = z._default(z.strictObject({ type: z._default(TestType, TEST) }), { type: TEST });
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

const WebhookParams = z.object({ id: EndpointId });
const DeliveryParams = z.object({ id: EndpointId, deliveryId: DeliveryId });

/** The use case checks the times, because their limits depend on the current time. */
export const StartRedelivery = z.strictObject({
  what: z.optional(RedeliverySelection),
  dryRun: z.optional(z.boolean()),
  from: requestTime,
  to: z.optional(requestTime),
  statuses: z.optional(distinct(ResentStatus, ['a status', 'statuses'])),
});

const RedeliveryParams = z.object({ id: EndpointId, redeliveryId: RedeliveryJobId });

export const registerWebhook = {
  name: 'register-webhook',
  method: 'POST',
  path: '/v1/webhooks',
  scope: 'write:webhooks',
  dashboard: 'admin',
  idempotency: 'required',
  audit: 'webhook.created',
  body: RegisterWebhook,
  success: { status: 201, data: RegisteredWebhook },
  refusals: ['LIMIT_EXCEEDED', 'GONE'],
} as const satisfies Route;

export const listWebhooks = {
  name: 'list-webhooks',
  method: 'GET',
  path: '/v1/webhooks',
  scope: 'read:webhooks',
  dashboard: 'member',
  query: PageQuery,
  success: { status: 200, data: z.array(Webhook) },
} as const satisfies Route;

export const readWebhook = {
  name: 'read-webhook',
  method: 'GET',
  path: '/v1/webhooks/{id}',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: WebhookParams,
  success: { status: 200, data: Webhook },
} as const satisfies Route;

export const updateWebhook = {
  name: 'update-webhook',
  method: 'PATCH',
  path: '/v1/webhooks/{id}',
  scope: 'write:webhooks',
  dashboard: 'admin',
  audit: 'webhook.updated',
  params: WebhookParams,
  body: UpdateWebhook,
  success: { status: 200, data: UpdatedWebhook },
  refusals: ['LIMIT_EXCEEDED', 'CONFLICT'],
} as const satisfies Route;

export const deleteWebhook = {
  name: 'delete-webhook',
  method: 'DELETE',
  path: '/v1/webhooks/{id}',
  scope: 'write:webhooks',
  dashboard: 'admin',
  audit: 'webhook.deleted',
  params: WebhookParams,
  success: { status: 204, data: z.undefined() },
} as const satisfies Route;

export const testWebhook = {
  name: 'test-webhook',
  method: 'POST',
  path: '/v1/webhooks/{id}/test',
  scope: 'write:webhooks',
  dashboard: 'admin',
  idempotency: 'required',
  audit: 'none',
  params: WebhookParams,
  body: TestWebhook,
  success: { status: 202, data: TestEvent },
  refusals: ['CONFLICT'],
} as const satisfies Route;

export const readWebhookStats = {
  name: 'read-webhook-stats',
  method: 'GET',
  path: '/v1/webhooks/{id}/stats',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: WebhookParams,
  query: StatsQuery,
  success: { status: 200, data: WebhookStats },
} as const satisfies Route;

export const readDeliveryStats = {
  name: 'read-delivery-stats',
  method: 'GET',
  path: '/v1/deliveries/stats',
  scope: 'read:webhooks',
  dashboard: 'member',
  query: StatsQuery,
  // The cost for 50 endpoints with counts in every hour.
  tokens: ({ hours }: { hours: number }) => Math.ceil(hours / 42),
  success: { status: 200, data: DeliveryStats },
} as const satisfies Route;

export const listDeliveries = {
  name: 'list-deliveries',
  method: 'GET',
  path: '/v1/webhooks/{id}/deliveries',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: WebhookParams,
  query: ListDeliveriesQuery,
  success: { status: 200, data: z.array(ListedDelivery) },
} as const satisfies Route;

export const readDelivery = {
  name: 'read-delivery',
  method: 'GET',
  path: '/v1/webhooks/{id}/deliveries/{deliveryId}',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: DeliveryParams,
  success: { status: 200, data: DeliveryWithAttempts },
} as const satisfies Route;

export const retryDelivery = {
  name: 'retry-delivery',
  method: 'POST',
  path: '/v1/webhooks/{id}/deliveries/{deliveryId}/retry',
  scope: 'write:webhooks',
  dashboard: 'admin',
  audit: 'none',
  idempotency: 'honoured',
  params: DeliveryParams,
  success: { status: 202, data: Delivery },
  refusals: ['CONFLICT'],
} as const satisfies Route;

export const redeliverDelivery = {
  name: 'redeliver-delivery',
  method: 'POST',
  path: '/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver',
  scope: 'write:webhooks',
  dashboard: 'admin',
  idempotency: 'honoured',
  audit: 'none',
  params: DeliveryParams,
  success: { status: 202, data: Delivery },
  refusals: ['CONFLICT'],
} as const satisfies Route;

export const startRedelivery = {
  name: 'start-redelivery',
  method: 'POST',
  path: '/v1/webhooks/{id}/redeliveries',
  scope: 'write:webhooks',
  dashboard: 'admin',
  idempotency: 'honoured',
  audit: 'redelivery.started',
  params: WebhookParams,
  body: StartRedelivery,
  success: { status: 202, data: Redelivery },
  refusals: ['CONFLICT'],
} as const satisfies Route;

export const listRedeliveries = {
  name: 'list-redeliveries',
  method: 'GET',
  path: '/v1/webhooks/{id}/redeliveries',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: WebhookParams,
  query: PageQuery,
  success: { status: 200, data: z.array(Redelivery) },
} as const satisfies Route;

export const readRedelivery = {
  name: 'read-redelivery',
  method: 'GET',
  path: '/v1/webhooks/{id}/redeliveries/{redeliveryId}',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: RedeliveryParams,
  success: { status: 200, data: Redelivery },
} as const satisfies Route;

export const stopRedelivery = {
  name: 'stop-redelivery',
  method: 'DELETE',
  path: '/v1/webhooks/{id}/redeliveries/{redeliveryId}',
  scope: 'write:webhooks',
  dashboard: 'admin',
  audit: 'redelivery.stopped',
  params: RedeliveryParams,
  success: { status: 204, data: z.undefined() },
} as const satisfies Route;
