import * as z from 'zod/mini';
import type { Route } from '../../http/route.ts';
import * as shared from '../fields.ts';
import * as schema from './schemas.ts';

export const listEvents = {
  name: 'list-events',
  method: 'GET',
  path: '/v1/events',
  summary: 'List events',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: shared.NoParams,
  query: schema.ListEventsQuery,
  success: { status: 200, followed: true, data: z.array(schema.Event) },
} as const satisfies Route;

export const readEvent = {
  name: 'read-event',
  method: 'GET',
  path: '/v1/events/{id}',
  summary: 'Read an event with its payload and deliveries',
  scope: 'read:webhooks',
  dashboard: 'member',
  params: schema.EventParams,
  query: shared.NoQuery,
  success: { status: 200, data: schema.EventWithDeliveries },
} as const satisfies Route;
