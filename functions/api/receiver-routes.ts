import * as z from 'zod/mini';
import { ChannelId, DeliveryId, EndpointId, EventId, RedeliveryJobId, Timestamp } from '../aws/ids.ts';
import { EventTypeName } from '../events/events.ts';
import type { Route } from '../http/route.ts';
import { RedeliveryJobStatus, RedeliverySelection, ResentStatus, StopReason } from '../redelivery/jobs.ts';
import { clamped, distinct, ListDeliveriesQuery, orNull, PageQuery, requestTime } from './fields.ts';

/*
 * Routes that webhook endpoints and channels share: their deliveries, counts and redelivery jobs. Each is a
 * function, so that a bundle contains one route's schemas only.
 */

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
/** Statistics of a receiver, except its id. */
export const STATS_FIELDS = {
  from: Timestamp,
  to: Timestamp,
  totals: DeliveryCounts,
  latency: orNull(Latency),
  oldestPending: orNull(Timestamp),
  hours: z.array(DeliveryCountsOfHour),
};
/** Up to one week. */
export const StatsQuery = z.object({ hours: clamped({ least: 1, most: 168, standard: 24 }) });

export const TestEvent = z.object({ eventId: EventId, deliveryId: DeliveryId });

/** Fields of a redelivery job, except the ids of the job and its receiver. */
export const REDELIVERY_FIELDS = {
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
};
/** The use case checks the times, because their limits depend on the current time. */
export const StartRedelivery = z.strictObject({
  what: z.optional(RedeliverySelection),
  dryRun: z.optional(z.boolean()),
  from: requestTime,
  to: z.optional(requestTime),
  statuses: z.optional(distinct(ResentStatus, ['a status', 'statuses'])),
});

export const WEBHOOKS = {
  path: '/v1/webhooks/{id}',
  read: 'read:webhooks',
  write: 'write:webhooks',
  params: z.object({ id: EndpointId }),
  deliveryParams: z.object({ id: EndpointId, deliveryId: DeliveryId }),
  jobParams: z.object({ id: EndpointId, redeliveryId: RedeliveryJobId }),
} as const;
export const CHANNELS = {
  path: '/v1/channels/{id}',
  read: 'read:conversations',
  write: 'write:conversations',
  params: z.object({ id: ChannelId }),
  deliveryParams: z.object({ id: ChannelId, deliveryId: DeliveryId }),
  jobParams: z.object({ id: ChannelId, redeliveryId: RedeliveryJobId }),
} as const;
type Receivers = typeof WEBHOOKS | typeof CHANNELS;

export const statsRoute = <const Name extends string>(
  name: Name,
  { path, read, params }: Receivers,
  stats: z.ZodMiniType,
) =>
  ({
    ...{ name, method: 'GET', path: `${path}/stats`, scope: read, dashboard: 'member' },
    ...{ params, query: StatsQuery, success: { status: 200, data: stats } },
  }) as const satisfies Route;

export const listDeliveriesRoute = <const Name extends string>(
  name: Name,
  { path, read, params }: Receivers,
  delivery: z.ZodMiniType,
) =>
  ({
    ...{ name, method: 'GET', path: `${path}/deliveries`, scope: read, dashboard: 'member' },
    ...{ params, query: ListDeliveriesQuery, success: { status: 200, data: z.array(delivery) } },
  }) as const satisfies Route;

export const readDeliveryRoute = <const Name extends string>(
  name: Name,
  { path, read, deliveryParams: params }: Receivers,
  delivery: z.ZodMiniType,
) =>
  ({
    ...{ name, method: 'GET', path: `${path}/deliveries/{deliveryId}`, scope: read, dashboard: 'member' },
    ...{ params, success: { status: 200, data: delivery } },
  }) as const satisfies Route;

/** @param action `retry` or `redeliver` */
export const resendRoute = <const Name extends string, Action extends 'retry' | 'redeliver'>(
  name: Name,
  action: Action,
  { path, write, deliveryParams: params }: Receivers,
  delivery: z.ZodMiniType,
) =>
  ({
    ...{ name, method: 'POST', path: `${path}/deliveries/{deliveryId}/${action}`, scope: write },
    ...{ dashboard: 'admin', idempotency: 'honoured', audit: 'none' },
    ...{ params, success: { status: 202, data: delivery }, refusals: ['CONFLICT'] },
  }) as const satisfies Route;

export const startRedeliveryRoute = <const Name extends string>(
  name: Name,
  { path, write, params }: Receivers,
  job: z.ZodMiniType,
) =>
  ({
    ...{ name, method: 'POST', path: `${path}/redeliveries`, scope: write, dashboard: 'admin' },
    ...{ idempotency: 'honoured', audit: 'redelivery.started', params, body: StartRedelivery },
    ...{ success: { status: 202, data: job }, refusals: ['CONFLICT'] },
  }) as const satisfies Route;

export const listRedeliveriesRoute = <const Name extends string>(
  name: Name,
  { path, read, params }: Receivers,
  job: z.ZodMiniType,
) =>
  ({
    ...{ name, method: 'GET', path: `${path}/redeliveries`, scope: read, dashboard: 'member' },
    ...{ params, query: PageQuery, success: { status: 200, data: z.array(job) } },
  }) as const satisfies Route;

export const readRedeliveryRoute = <const Name extends string>(
  name: Name,
  { path, read, jobParams: params }: Receivers,
  job: z.ZodMiniType,
) =>
  ({
    ...{ name, method: 'GET', path: `${path}/redeliveries/{redeliveryId}`, scope: read, dashboard: 'member' },
    ...{ params, success: { status: 200, data: job } },
  }) as const satisfies Route;

export const stopRedeliveryRoute = <const Name extends string>(
  name: Name,
  { path, write, jobParams: params }: Receivers,
) =>
  ({
    ...{ name, method: 'DELETE', path: `${path}/redeliveries/{redeliveryId}`, scope: write },
    ...{ dashboard: 'admin', audit: 'redelivery.stopped' },
    ...{ params, success: { status: 204, data: z.undefined() } },
  }) as const satisfies Route;
