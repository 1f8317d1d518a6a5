import * as z from 'zod/mini';
import { EndpointId, RedeliveryJobId, Timestamp } from '../../aws/ids.ts';
import { EventTypeName } from '../../events/events.ts';
import { FailedStatus, RedeliveryJobStatus, RedeliverySelection, StopReason } from '../../redelivery/job.ts';
import { distinct, orNull, requestTime } from '../fields.ts';

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

export const OfWebhook = z.object({ id: EndpointId });
export const RedeliveryParams = z.object({ id: EndpointId, redeliveryId: RedeliveryJobId });
