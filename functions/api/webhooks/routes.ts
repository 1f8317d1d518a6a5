import * as z from 'zod/mini';
import { DeliveryId, EndpointId, RedeliveryJobId, Timestamp } from '../../aws/ids.ts';
import { MAX_CHANNEL_LENGTH, MessageRole } from '../../conversations/conversations.ts';
import { SubscribableType } from '../../events/events.ts';
import type { Route } from '../../http/route.ts';
import {
  DisabledReason,
  EndpointStatus,
  MAX_DESCRIPTION_LENGTH,
  MaxPerSecond,
} from '../../receivers/endpoint.ts';
import {
  ATTEMPTS_FIELDS,
  DELIVERY_FIELDS,
  distinct,
  Failing,
  LISTED_FIELDS,
  note,
  orNull,
  PageQuery,
  receiverUrl,
  text,
  withoutRepetition,
} from '../fields.ts';
import {
  DeliveryCounts,
  DeliveryCountsOfHour,
  Latency,
  listDeliveriesRoute,
  listRedeliveriesRoute,
  REDELIVERY_FIELDS,
  readDeliveryRoute,
  readRedeliveryRoute,
  resendRoute,
  STATS_FIELDS,
  StatsQuery,
  startRedeliveryRoute,
  statsRoute,
  stopRedeliveryRoute,
  TestEvent,
  WEBHOOKS,
} from '../receiver-routes.ts';

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
export const Redelivery = z.extend(
  z.object({ id: RedeliveryJobId, webhookId: EndpointId }),
  REDELIVERY_FIELDS,
);

/** With the redelivery job that the request has started. */
export const UpdatedWebhook = z.extend(Webhook, { redelivery: orNull(Redelivery) });
/** The only response with the secret. */
export const RegisteredWebhook = z.extend(UpdatedWebhook, { secret: z.string() });

const TEST = 'webhook.test';
const TestType = /* @__PURE__ */ (() => z.enum([TEST, ...SubscribableType.options]))();
export const TestWebhook = z._default(z.strictObject({ type: z._default(TestType, TEST) }), { type: TEST });

export const Delivery = z.extend(z.object({ id: DeliveryId, webhookId: EndpointId }), DELIVERY_FIELDS);
export const ListedDelivery = z.extend(Delivery, LISTED_FIELDS);
export const DeliveryWithAttempts = z.extend(Delivery, ATTEMPTS_FIELDS);

export const WebhookStats = z.extend(z.object({ webhookId: EndpointId }), STATS_FIELDS);

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
  params: WEBHOOKS.params,
  success: { status: 200, data: Webhook },
} as const satisfies Route;

export const updateWebhook = {
  name: 'update-webhook',
  method: 'PATCH',
  path: '/v1/webhooks/{id}',
  scope: 'write:webhooks',
  dashboard: 'admin',
  audit: 'webhook.updated',
  params: WEBHOOKS.params,
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
  params: WEBHOOKS.params,
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
  params: WEBHOOKS.params,
  body: TestWebhook,
  success: { status: 202, data: TestEvent },
  refusals: ['CONFLICT'],
} as const satisfies Route;

export const readWebhookStats = /* @__PURE__ */ statsRoute('read-webhook-stats', WEBHOOKS, WebhookStats);

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

export const listDeliveries = /* @__PURE__ */ listDeliveriesRoute(
  'list-deliveries',
  WEBHOOKS,
  ListedDelivery,
);

export const readDelivery = /* @__PURE__ */ readDeliveryRoute(
  'read-delivery',
  WEBHOOKS,
  DeliveryWithAttempts,
);

export const retryDelivery = /* @__PURE__ */ resendRoute('retry-delivery', 'retry', WEBHOOKS, Delivery);

export const redeliverDelivery = /* @__PURE__ */ resendRoute(
  'redeliver-delivery',
  'redeliver',
  WEBHOOKS,
  Delivery,
);

export const startRedelivery = /* @__PURE__ */ startRedeliveryRoute('start-redelivery', WEBHOOKS, Redelivery);

export const listRedeliveries = /* @__PURE__ */ listRedeliveriesRoute(
  'list-redeliveries',
  WEBHOOKS,
  Redelivery,
);

export const readRedelivery = /* @__PURE__ */ readRedeliveryRoute('read-redelivery', WEBHOOKS, Redelivery);

export const stopRedelivery = /* @__PURE__ */ stopRedeliveryRoute('stop-redelivery', WEBHOOKS);
