import * as z from 'zod/mini';
import { EndpointId, RedeliveryJobId } from '../../domain/ids.ts';
import { FailedStatus, RedeliveryJobStatus, StopReason } from '../../domain/redelivery.ts';
import { distinct, orNull, timestamp } from '../fields.ts';

/** The use case checks the times, because their limits depend on the current time. */
export const StartRedelivery = z.object({
  from: timestamp,
  to: z.optional(timestamp),
  statuses: z.optional(distinct(FailedStatus, ['a status', 'statuses'])),
});

export const Redelivery = z.object({
  id: RedeliveryJobId,
  webhookId: EndpointId,
  status: RedeliveryJobStatus,
  reason: orNull(StopReason),
  from: timestamp,
  to: timestamp,
  statuses: z.array(FailedStatus),
  examined: z.int(),
  redelivered: z.int(),
  progress: z.number(),
  createdAt: timestamp,
  finishedAt: orNull(timestamp),
});

export const OfWebhook = z.object({ id: EndpointId });
export const RedeliveryParams = z.object({ id: EndpointId, redeliveryId: RedeliveryJobId });
