import * as z from 'zod/mini';
import { EndpointId, RedeliveryJobId, Timestamp } from '../../aws/ids.ts';
import { EventTypeName } from '../../events/events.ts';
import type { Route } from '../../http/route.ts';
import { FailedStatus, RedeliveryJobStatus, RedeliverySelection, StopReason } from '../../redelivery/jobs.ts';
import { distinct, orNull, PageQuery, requestTime } from '../fields.ts';

/** The use case checks the times, because their limits depend on the current time. */
export const StartRedelivery = z.strictObject({
  what: z.optional(RedeliverySelection),
  dryRun: z.optional(z.boolean()),
  from: requestTime,
  to: z.optional(requestTime),
  statuses: z.optional(distinct(FailedStatus, ['a status', 'statuses'])),
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
  statuses: z.array(FailedStatus),
  examined: z.int(),
  redelivered: z.int(),
  eventTypes: z.array(z.object({ type: EventTypeName, count: z.int() })),
  firstEventAt: orNull(Timestamp),
  progress: z.number(),
  createdAt: Timestamp,
  finishedAt: orNull(Timestamp),
});

const OfWebhook = z.object({ id: EndpointId });
const RedeliveryParams = z.object({ id: EndpointId, redeliveryId: RedeliveryJobId });

export const startRedelivery = {
  name: 'start-redelivery',
  method: 'POST',
  path: '/v1/webhooks/{id}/redeliveries',
  scope: 'write:webhooks',
  dashboard: 'admin',
  idempotency: 'honoured',
  audit: 'redelivery.started',
  params: OfWebhook,
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
  params: OfWebhook,
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
