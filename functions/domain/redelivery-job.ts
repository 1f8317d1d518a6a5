import * as z from 'zod/mini';
import { type BusEvent, type Notice, newNotice } from './bus.ts';
import { type Delivery, Lease } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import {
  creationTime,
  type DeliveryId,
  deliveryId,
  EndpointId,
  jobDeliveryId,
  newId,
  OrgId,
  RedeliveryJobId,
  TraceId,
  traced,
} from './ids.ts';
import { HISTORY_DAYS, isFirst, isTooOld, repeating } from './redelivery.ts';
import type { Tenant } from './tenant.ts';

/** Days for which a job that has ended can be read. */
export const JOB_DAYS = 30;

/** How deliveries have failed that a job sends again. */
export const FailedStatus = z.enum(['exhausted', 'skipped']);
export type FailedStatus = z.infer<typeof FailedStatus>;

export const RedeliveryJobStatus = z.enum(['running', 'done', 'stopped']);
export type RedeliveryJobStatus = z.infer<typeof RedeliveryJobStatus>;

/** Why a job was stopped before it had come to the end of its time. */
export const StopReason = z.enum(['cancelled', 'endpoint_disabled', 'endpoint_deleted']);
export type StopReason = z.infer<typeof StopReason>;

/** The order to send all deliveries again that have failed in a time, and how far it has come. */
export const RedeliveryJob = z.object({
  id: RedeliveryJobId,
  orgId: OrgId,
  generation: z.int(),
  webhookId: EndpointId,
  status: RedeliveryJobStatus,
  reason: z.optional(StopReason),
  /** The time of the deliveries, by their identifiers: from the one inclusive to the other exclusive. */
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  statuses: z.array(FailedStatus),
  /** What was examined lies at or before this in the order of identifiers. Absent until something was. */
  place: z.optional(z.string()),
  /** When the page under way was begun, which is the same when it is repeated. Absent before, and in jobs of before it was noted. */
  pageAt: z.optional(z.iso.datetime()),
  /** Deliveries that were looked at, and those that were made. */
  examined: z.int(),
  redelivered: z.int(),
  /** The last message that was begun with. */
  round: z.int(),
  createdAt: z.iso.datetime(),
  finishedAt: z.optional(z.iso.datetime()),
  lease: z.optional(Lease),
  traceId: TraceId,
});
export type RedeliveryJob = z.infer<typeof RedeliveryJob>;

/** What names a job: enough for its key. */
export type RedeliveryJobRef = Pick<RedeliveryJob, 'id' | 'orgId' | 'generation' | 'webhookId'>;

/** That a job runs, kept apart from it so that whoever looks after its messages finds it. */
export const RedeliveryRun = z.object({
  id: RedeliveryJobId,
  orgId: OrgId,
  generation: z.int(),
  webhookId: EndpointId,
  /** When a message was last sent for it from outside of its rounds: at first, with its beginning. */
  remindedAt: z.iso.datetime(),
});
export type RedeliveryRun = z.infer<typeof RedeliveryRun>;

/** A job under a lease. */
export type LeasedJob = RedeliveryJob & { lease: Lease };

export type RedeliveryOrder =
  | { kind: 'job'; job: RedeliveryJob }
  | { kind: 'refused'; why: 'endpoint-disabled' | 'no-time' | 'too-old' };

const MS_PER_DAY = 86_400_000;

/**
 * A new job. Its time ends now at the latest, so that what it makes is not in it, and begins where events can still be sent again.
 * @param asked times, ISO 8601
 */
export function newJob(
  asked: { from: string; to?: string | undefined; statuses: readonly FailedStatus[] },
  endpoint: { id: EndpointId; status: Endpoint['status'] },
  { tenant, now, traceId }: { tenant: Tenant; now: Date; traceId?: TraceId },
): RedeliveryOrder {
  const earliest = now.getTime() - HISTORY_DAYS * MS_PER_DAY;
  const from = Math.max(Date.parse(asked.from), earliest);
  const to = Math.min(asked.to === undefined ? now.getTime() : Date.parse(asked.to), now.getTime());
  if (Date.parse(asked.from) >= to) return { kind: 'refused', why: 'no-time' };
  if (to <= earliest) return { kind: 'refused', why: 'too-old' };
  if (endpoint.status === 'auto_disabled') return { kind: 'refused', why: 'endpoint-disabled' };
  return {
    kind: 'job',
    job: {
      id: newId('rdj', now),
      orgId: tenant.orgId,
      generation: tenant.generation,
      webhookId: endpoint.id,
      status: 'running',
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      statuses: [...asked.statuses],
      examined: 0,
      redelivered: 0,
      round: 0,
      createdAt: now.toISOString(),
      ...traced(traceId),
    },
  };
}

/** What a job has to know of a delivery. */
export type Examined = Pick<Delivery, 'id' | 'eventId' | 'eventType' | 'status'>;

/** Whether a job sends again what has ended so. */
const takes = ({ statuses }: RedeliveryJob, status: Delivery['status'] | undefined): boolean =>
  statuses.some((failed) => failed === status);

/** The first deliveries of events that failed again when they were repeated: whether one of them is a job's own has to be known of each. */
export const firstsOf = (
  job: RedeliveryJob,
  examined: readonly Examined[],
): { id: DeliveryId; webhookId: EndpointId; generation: number }[] => {
  const { webhookId, generation } = job;
  const repeated = examined.filter(
    (delivery) => takes(job, delivery.status) && !isFirst({ ...delivery, webhookId }),
  );
  const ids = new Set(repeated.map(({ eventId }) => deliveryId(eventId, webhookId)));
  return [...ids].map((id) => ({ id, webhookId, generation }));
};

/**
 * The new deliveries that a job owes for a page of those that it examines, one for each event of the job. Their identifiers follow from job, page and event:
 * whoever makes them again makes the same. They carry the time of the page, so that they come in the order in which they are made and whoever reads on from
 * the newest one meets them; of an event whose first delivery is not the job's, but several that repeated it may be, on several pages, that of the job.
 * @param firsts what `firstsOf` asked for: how those ended that are still there
 */
export function redeliveriesOf(
  job: RedeliveryJob,
  examined: readonly Examined[],
  firsts: ReadonlyMap<DeliveryId, Delivery['status']>,
  now: Date,
): Delivery[] {
  const { orgId, generation, webhookId, traceId } = job;
  const pageAt = new Date(job.pageAt ?? job.createdAt);
  const startedAt = new Date(job.createdAt);
  /** One that it has met, or meets here: it was created before all that repeat it. */
  const isOwn = (first: DeliveryId) => isWithin(job, creationTime(first)) && takes(job, firsts.get(first));
  const made = new Map<string, Delivery>();
  for (const delivery of examined) {
    const { eventId, status } = delivery;
    if (!takes(job, status) || isTooOld(eventId, now) || made.has(eventId)) continue;
    const first = isFirst({ ...delivery, webhookId });
    if (!first && isOwn(deliveryId(eventId, webhookId))) continue;
    const id = jobDeliveryId(eventId, webhookId, first ? pageAt : startedAt);
    made.set(eventId, repeating({ ...delivery, orgId, generation, webhookId }, id, now, traceId));
  }
  return [...made.values()];
}

const isWithin = ({ from, to }: RedeliveryJob, time: Date): boolean =>
  time.getTime() >= Date.parse(from) && time.getTime() < Date.parse(to);

/** The part of its time that a job has examined, from 0 to 1. One that is done has come to its end, whatever there was. */
export function progressOf({
  status,
  from,
  to,
  place,
}: Pick<RedeliveryJob, 'status' | 'from' | 'to' | 'place'>): number {
  if (status === 'done') return 1;
  if (place === undefined) return 0;
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  const at = creationTime(place as Delivery['id']).getTime();
  const part = (at - begin) / (end - begin);
  return Math.round(Math.min(1, Math.max(0, part)) * 10_000) / 10_000;
}

/** A job as its owner sees it. */
export const shownJob = (job: RedeliveryJob) => ({ ...job, progress: progressOf(job) });

/** The run of a job that begins. */
export const runOf = ({ id, orgId, generation, webhookId, createdAt }: RedeliveryJob): RedeliveryRun => ({
  id,
  orgId,
  generation,
  webhookId,
  remindedAt: createdAt,
});

/**
 * What is to be done about a run that nobody was reminded of for long: nothing while a worker has the job, and a message when none has it, which may
 * be one too many. One whose job has ended, or is gone, is over.
 */
export function lookedAt(job: RedeliveryJob | undefined, now: Date): 'over' | 'held' | 'unheld' {
  if (job?.status !== 'running') return 'over';
  return job.lease !== undefined && job.lease.until > now.getTime() ? 'held' : 'unheld';
}

const roundId = ({ id }: Pick<RedeliveryJob, 'id'>, round: number): string => `${id}#round#${round}`;

/** Has the job begun with, in the transaction that makes it. */
export const beginningOf = (job: RedeliveryJob): Notice =>
  newNotice(
    'webhook.redelivery',
    roundId(job, 1),
    { webhookId: job.webhookId, redeliveryId: job.id, round: 1 },
    { tenant: job, now: new Date(job.createdAt), traceId: job.traceId },
  );

/** Has a job gone on with, as the bus would say it. */
export const nextRound = (job: RedeliveryJob, now: Date): BusEvent => roundOf(job, job.round + 1, now);

/** Has a job gone on with whose message may be lost. Beside a later one that is not, it is out of date and does nothing. */
export const repeatedRound = (job: RedeliveryJob, now: Date): BusEvent =>
  roundOf(job, Math.max(1, job.round), now);

const roundOf = (job: RedeliveryJob, round: number, now: Date): BusEvent => {
  const { orgId, generation, webhookId, id: redeliveryId, traceId } = job;
  return {
    id: roundId(job, round),
    type: 'webhook.redelivery',
    orgId,
    generation,
    createdAt: now.toISOString(),
    data: { webhookId, redeliveryId, round },
    ...traced(traceId),
  };
};
