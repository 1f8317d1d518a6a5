import * as z from 'zod/mini';
import type { Route } from '../../http/route.ts';
import * as shared from '../fields.ts';
import * as schema from './schemas.ts';

export const startRedelivery = {
  name: 'start-redelivery',
  method: 'POST',
  path: '/v1/webhooks/{id}/redeliveries',
  summary: 'Resend the failed deliveries of a webhook endpoint in a time range',
  scope: 'write:webhooks',
  dashboard: 'admin',
  idempotency: 'honoured',
  audit: 'redelivery.started',
  params: schema.OfWebhook,
  query: shared.NoQuery,
  body: schema.StartRedelivery,
  success: { status: 202, data: schema.Redelivery },
  refusals: ['CONFLICT'],
} as const satisfies Route;

export const listRedeliveries = {
  name: 'list-redeliveries',
  method: 'GET',
  path: '/v1/webhooks/{id}/redeliveries',
  summary: 'List the redelivery jobs of a webhook endpoint',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: schema.OfWebhook,
  query: shared.PageQuery,
  success: { status: 200, data: z.array(schema.Redelivery) },
} as const satisfies Route;

export const readRedelivery = {
  name: 'read-redelivery',
  method: 'GET',
  path: '/v1/webhooks/{id}/redeliveries/{redeliveryId}',
  summary: 'Read a redelivery job',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: schema.RedeliveryParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.Redelivery },
} as const satisfies Route;

export const stopRedelivery = {
  name: 'stop-redelivery',
  method: 'DELETE',
  path: '/v1/webhooks/{id}/redeliveries/{redeliveryId}',
  summary: 'Stop a redelivery job',
  scope: 'write:webhooks',
  dashboard: 'admin',
  audit: 'redelivery.stopped',
  params: schema.RedeliveryParams,
  query: shared.NoQuery,
  success: { status: 204, data: z.undefined() },
} as const satisfies Route;
