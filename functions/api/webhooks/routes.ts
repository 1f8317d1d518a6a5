import * as z from 'zod/mini';
import type { Route } from '../../http/route.ts';
import { ListDeliveriesQuery } from '../delivery-schemas.ts';
import * as shared from '../fields.ts';
import * as schema from './schemas.ts';

export const registerWebhook = {
  name: 'register-webhook',
  method: 'POST',
  path: '/v1/webhooks',
  summary: 'Register a webhook endpoint',
  scope: 'write:webhooks',
  dashboard: 'admin',
  idempotency: 'required',
  audit: 'webhook.created',
  params: shared.NoParams,
  query: shared.NoQuery,
  body: schema.RegisterWebhook,
  success: { status: 201, data: schema.RegisteredWebhook },
  refusals: ['LIMIT_EXCEEDED', 'GONE'],
} as const satisfies Route;

export const listWebhooks = {
  name: 'list-webhooks',
  method: 'GET',
  path: '/v1/webhooks',
  summary: 'List webhook endpoints',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: shared.NoParams,
  query: shared.PageQuery,
  success: { status: 200, data: z.array(schema.Webhook) },
} as const satisfies Route;

export const readWebhook = {
  name: 'read-webhook',
  method: 'GET',
  path: '/v1/webhooks/{id}',
  summary: 'Read a webhook endpoint',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: schema.WebhookParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.Webhook },
} as const satisfies Route;

export const updateWebhook = {
  name: 'update-webhook',
  method: 'PATCH',
  path: '/v1/webhooks/{id}',
  summary: 'Update a webhook endpoint',
  scope: 'write:webhooks',
  dashboard: 'admin',
  audit: 'webhook.updated',
  params: schema.WebhookParams,
  query: shared.NoQuery,
  body: schema.UpdateWebhook,
  success: { status: 200, data: schema.Webhook },
  refusals: ['LIMIT_EXCEEDED'],
} as const satisfies Route;

export const deleteWebhook = {
  name: 'delete-webhook',
  method: 'DELETE',
  path: '/v1/webhooks/{id}',
  summary: 'Delete a webhook endpoint',
  scope: 'write:webhooks',
  dashboard: 'admin',
  audit: 'webhook.deleted',
  params: schema.WebhookParams,
  query: shared.NoQuery,
  success: { status: 204, data: z.undefined() },
} as const satisfies Route;

export const testWebhook = {
  name: 'test-webhook',
  method: 'POST',
  path: '/v1/webhooks/{id}/test',
  summary: 'Send a test event to a webhook endpoint',
  scope: 'write:webhooks',
  dashboard: 'admin',
  idempotency: 'required',
  audit: 'none',
  params: schema.WebhookParams,
  query: shared.NoQuery,
  body: schema.TestWebhook,
  success: { status: 202, data: schema.TestEvent },
  refusals: ['CONFLICT'],
} as const satisfies Route;

export const readWebhookStats = {
  name: 'read-webhook-stats',
  method: 'GET',
  path: '/v1/webhooks/{id}/stats',
  summary: 'Count the deliveries of a webhook endpoint by hour and outcome',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: schema.WebhookParams,
  query: schema.StatsQuery,
  success: { status: 200, data: schema.WebhookStats },
} as const satisfies Route;

export const readDeliveryStats = {
  name: 'read-delivery-stats',
  method: 'GET',
  path: '/v1/deliveries/stats',
  summary: 'Count the deliveries of all webhook endpoints by hour and outcome',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: shared.NoParams,
  query: schema.StatsQuery,
  // The cost for 50 endpoints with counts in every hour.
  tokens: ({ hours }: { hours: number }) => Math.ceil(hours / 42),
  success: { status: 200, data: schema.DeliveryStats },
} as const satisfies Route;

export const listDeliveries = {
  name: 'list-deliveries',
  method: 'GET',
  path: '/v1/webhooks/{id}/deliveries',
  summary: 'List the deliveries of a webhook endpoint',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: schema.WebhookParams,
  query: ListDeliveriesQuery,
  success: { status: 200, data: z.array(schema.ListedDelivery) },
} as const satisfies Route;

export const readDelivery = {
  name: 'read-delivery',
  method: 'GET',
  path: '/v1/webhooks/{id}/deliveries/{deliveryId}',
  summary: 'Read a delivery with its attempts',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: schema.DeliveryParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.DeliveryWithAttempts },
} as const satisfies Route;

export const retryDelivery = {
  name: 'retry-delivery',
  method: 'POST',
  path: '/v1/webhooks/{id}/deliveries/{deliveryId}/retry',
  summary: 'Attempt a retrying delivery now',
  scope: 'write:webhooks',
  dashboard: 'admin',
  audit: 'none',
  idempotency: 'honoured',
  params: schema.DeliveryParams,
  query: shared.NoQuery,
  success: { status: 202, data: schema.Delivery },
  refusals: ['CONFLICT'],
} as const satisfies Route;

export const redeliverDelivery = {
  name: 'redeliver-delivery',
  method: 'POST',
  path: '/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver',
  summary: 'Resend a delivery',
  scope: 'write:webhooks',
  dashboard: 'admin',
  idempotency: 'honoured',
  audit: 'none',
  params: schema.DeliveryParams,
  query: shared.NoQuery,
  success: { status: 202, data: schema.Delivery },
  refusals: ['CONFLICT'],
} as const satisfies Route;
