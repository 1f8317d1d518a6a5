import * as z from 'zod/mini';
import {
  type DeliveryId,
  deriveDeliveryId,
  deriveJobDeliveryId,
  EndpointId,
  newId,
  OrgId,
  parseCreationTime,
  RedeliveryJobId,
  Timestamp,
  TraceId,
  withTrace,
} from '../aws/ids.ts';
import { type Delivery, Lease } from '../delivery/delivery.ts';
import { type ExaminedDelivery, isFirstDelivery, isTooOld, repeatDelivery } from '../delivery/redelivery.ts';
import { createNotice, type Notice } from '../events/bus.ts';
import { EventTypeName, HISTORY_DAYS } from '../events/events.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import type { Tenant } from '../tenancy/tenant.ts';

/** Days for which a finished job can be read. */
export const JOB_DAYS = 30;

/** Statuses of deliveries that a job resends. */
export const FailedStatus = z.enum(['exhausted', 'skipped']);
export type FailedStatus = z.infer<typeof FailedStatus>;

/**
 * What a job resends: the endpoint's own deliveries that failed, or every event of its types that it has not
 * received, those before its registration included.
 */
export const RedeliverySelection = z.enum(['failed', 'missing']);
export type RedeliverySelection = z.infer<typeof RedeliverySelection>;

export const RedeliveryJobStatus = z.enum(['running', 'done', 'stopped']);
export type RedeliveryJobStatus = z.infer<typeof RedeliveryJobStatus>;

/** Why a job stopped early. */
export const StopReason = z.enum(['cancelled', 'endpoint_disabled', 'endpoint_deleted']);
export type StopReason = z.infer<typeof StopReason>;

const EventTypeCounts = z.partialRecord(EventTypeName, z.int());
type EventTypeCounts = z.infer<typeof EventTypeCounts>;

/** A job that resends what an endpoint lacks in a time range, with its progress. */
export const RedeliveryJob = z.object({
  id: RedeliveryJobId,
  orgId: OrgId,
  generation: z.int(),
  webhookId: EndpointId,
  status: RedeliveryJobStatus,
  reason: z.optional(StopReason),
  /** Absent in older jobs, which are `failed`. */
  what: z._default(RedeliverySelection, 'failed'),
  /** Set for a job that only counts. */
  dryRun: z.optional(z.literal(true)),
  /** Time range of the deliveries or events by their ids; `from` inclusive, `to` exclusive. */
  from: Timestamp,
  to: Timestamp,
  statuses: z.array(FailedStatus),
  /**
   * Deliveries or events up to this id are examined, and what was created for them has had its first attempt.
   * Absent at the start.
   */
  place: z.optional(z.string()),
  /** Up to this id, deliveries may have been created: the next round's page includes them. */
  reach: z.optional(z.string()),
  /** Deliveries or events examined, and deliveries created, or counted by a dry run. */
  examined: z.int(),
  redelivered: z.int(),
  /** The latter by event type. */
  eventTypes: z._default(EventTypeCounts, {}),
  /** Time of the first event that is resent, or counted. */
  firstEventAt: z.optional(Timestamp),
  /** Number of the last message that was processed. */
  round: z.int(),
  createdAt: Timestamp,
  finishedAt: z.optional(Timestamp),
  lease: z.optional(Lease),
  traceId: TraceId,
});
export type RedeliveryJob = z.infer<typeof RedeliveryJob>;

/** Identifies a job: the parts of its key. */
export type RedeliveryJobRef = Pick<RedeliveryJob, 'id' | 'orgId' | 'generation' | 'webhookId'>;

/** Marks an endpoint's running job, which allows no other and whose messages can be lost. */
export const RedeliveryRun = z.object({
  id: RedeliveryJobId,
  orgId: OrgId,
  generation: z.int(),
  webhookId: EndpointId,
  /** When a message was last sent for it outside of its rounds; at first, its creation. */
  remindedAt: Timestamp,
});
export type RedeliveryRun = z.infer<typeof RedeliveryRun>;

export type LeasedJob = RedeliveryJob & { lease: Lease };

/** A new job, or why there is none. */
export type JobCreation =
  | { kind: 'job'; job: RedeliveryJob }
  | { kind: 'refused'; why: 'endpoint-disabled' | 'no-time' | 'too-old' };

const MS_PER_DAY = 86_400_000;

/**
 * Creates a job. Its range ends now at the latest, so that it does not include its own deliveries, and begins
 * where events can still be resent.
 * A dry run may count for a disabled endpoint too.
 * @param request times in ISO 8601
 */
export function createJob(
  request: {
    what?: RedeliverySelection | undefined;
    dryRun?: boolean | undefined;
    from: string;
    to?: string | undefined;
    statuses: readonly FailedStatus[];
  },
  endpoint: { id: EndpointId; status: Endpoint['status'] },
  { tenant, now, traceId }: { tenant: Tenant; now: Date; traceId?: TraceId },
): JobCreation {
  const earliest = now.getTime() - HISTORY_DAYS * MS_PER_DAY;
  const from = Math.max(Date.parse(request.from), earliest);
  const to = Math.min(request.to === undefined ? now.getTime() : Date.parse(request.to), now.getTime());
  if (Date.parse(request.from) >= to) return { kind: 'refused', why: 'no-time' };
  if (to <= earliest) return { kind: 'refused', why: 'too-old' };
  if (endpoint.status === 'auto_disabled' && request.dryRun !== true)
    return { kind: 'refused', why: 'endpoint-disabled' };
  return {
    kind: 'job',
    job: {
      id: newId('rdj', now),
      orgId: tenant.orgId,
      generation: tenant.generation,
      webhookId: endpoint.id,
      status: 'running',
      what: request.what ?? 'failed',
      ...(request.dryRun === true ? { dryRun: true } : {}),
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      statuses: [...request.statuses],
      examined: 0,
      redelivered: 0,
      eventTypes: {},
      round: 0,
      createdAt: now.toISOString(),
      ...withTrace(traceId),
    },
  };
}

/** Whether a job resends the event of a delivery that ended so, or that does not exist. */
export const isWanted = (
  { what, statuses }: RedeliveryJob,
  status: Delivery['status'] | undefined,
): boolean => (status === undefined ? what === 'missing' : statuses.some((failed) => failed === status));

/** Lists the first deliveries of events whose redelivery failed: the job has to know how each ended. */
export const listFirstDeliveries = (
  job: RedeliveryJob,
  examined: readonly ExaminedDelivery[],
): { id: DeliveryId; webhookId: EndpointId; generation: number }[] => {
  const { webhookId, generation } = job;
  const repeated = examined.filter(
    (delivery) => isWanted(job, delivery.status) && isRedelivery(delivery, webhookId),
  );
  const ids = new Set(repeated.map(({ eventId }) => deriveDeliveryId(eventId, webhookId)));
  return [...ids].map((id) => ({ id, webhookId, generation }));
};

const isRedelivery = ({ id, eventId }: ExaminedDelivery, webhookId: EndpointId): boolean =>
  id !== undefined && !isFirstDelivery({ id, eventId, webhookId });

/**
 * Selects the deliveries of a page whose events may be resent, one for each event. Of an event that failed
 * several times, the job resends the first delivery where that is in its range.
 * @param firsts the first deliveries, of those that still exist
 */
export function selectDeliveries(
  job: RedeliveryJob,
  examined: readonly ExaminedDelivery[],
  firsts: ReadonlyMap<DeliveryId, Pick<Delivery, 'status'>>,
  now: Date,
): ExaminedDelivery[] {
  const { webhookId } = job;
  const isExamined = (first: DeliveryId) =>
    isInRange(job, parseCreationTime(first)) && isWanted(job, firsts.get(first)?.status);
  const selected = new Map<string, ExaminedDelivery>();
  for (const delivery of examined) {
    const { eventId } = delivery;
    if (isTooOld(eventId, now) || selected.has(eventId)) continue;
    if (isRedelivery(delivery, webhookId) && isExamined(deriveDeliveryId(eventId, webhookId))) continue;
    selected.set(eventId, delivery);
  }
  return [...selected.values()];
}

/** Creates the delivery that resends an event. @param at its creation time */
export const createJobDelivery = (job: RedeliveryJob, examined: ExaminedDelivery, at: Date): Delivery => {
  const { orgId, generation, webhookId, traceId } = job;
  const id = deriveJobDeliveryId(examined.eventId, webhookId, at);
  return repeatDelivery({ ...examined, orgId, generation, webhookId }, id, at, traceId);
};

/** A part of what a job examines, in the order of ids. */
export interface ExaminedPage<T = ExaminedDelivery> {
  items: T[];
  /** Id after which the next page begins; undefined at the start of the range. */
  place: string | undefined;
  /** Whether the range ends here. */
  isLast: boolean;
}

/** The id by which a job examines an item. */
export const getPlace = ({ what }: Pick<RedeliveryJob, 'what'>, item: ExaminedDelivery | undefined) =>
  what === 'missing' ? item?.eventId : item?.id;

/** Ends a page before an item, which is left to the next one. */
export function endPageBefore(
  job: Pick<RedeliveryJob, 'what' | 'place'>,
  { items: all }: ExaminedPage,
  left: ExaminedDelivery,
): ExaminedPage {
  const items = all.slice(0, all.indexOf(left));
  return { items, place: getPlace(job, items.at(-1)) ?? job.place, isLast: false };
}

/** Adds deliveries to a job's counts. */
export function addToCounts(
  { eventTypes, firstEventAt }: Pick<RedeliveryJob, 'eventTypes' | 'firstEventAt'>,
  deliveries: readonly Pick<Delivery, 'eventId' | 'eventType'>[],
): Pick<RedeliveryJob, 'eventTypes' | 'firstEventAt'> {
  const counts: EventTypeCounts = { ...eventTypes };
  for (const { eventType } of deliveries) counts[eventType] = (counts[eventType] ?? 0) + 1;
  const [first] = [
    ...(firstEventAt === undefined ? [] : [firstEventAt]),
    ...deliveries.map(({ eventId }) => parseCreationTime(eventId).toISOString()),
  ].toSorted();
  return { eventTypes: counts, ...(first === undefined ? {} : { firstEventAt: first }) };
}

const isInRange = ({ from, to }: RedeliveryJob, time: Date): boolean =>
  time.getTime() >= Date.parse(from) && time.getTime() < Date.parse(to);

/** Examined share of the job's range, from 0 to 1. A finished job is at 1. */
export function computeProgress({
  status,
  from,
  to,
  place,
}: Pick<RedeliveryJob, 'status' | 'from' | 'to' | 'place'>): number {
  if (status === 'done') return 1;
  if (place === undefined) return 0;
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  const at = parseCreationTime(place as Delivery['id']).getTime();
  const part = (at - begin) / (end - begin);
  return Math.round(Math.min(1, Math.max(0, part)) * 10_000) / 10_000;
}

export const toJobView = ({ eventTypes, ...job }: RedeliveryJob) => ({
  ...job,
  statuses: job.what === 'missing' ? [] : job.statuses,
  eventTypes: Object.entries(eventTypes)
    .map(([type, count]) => ({ type, count }))
    .toSorted((one, other) => other.count - one.count || (one.type < other.type ? -1 : 1)),
  progress: computeProgress(job),
});

export function toRedeliveryRun(job: RedeliveryJob): RedeliveryRun {
  const { id, orgId, generation, webhookId, createdAt: remindedAt } = job;
  return { id, orgId, generation, webhookId, remindedAt };
}

/**
 * Decides about a run without recent messages: `held` while a worker holds the job's lease, `unheld` when a
 * message is needed, `over` when the job ended or is gone.
 */
export function checkRun(job: RedeliveryJob | undefined, now: Date): 'over' | 'held' | 'unheld' {
  if (job?.status !== 'running') return 'over';
  return job.lease !== undefined && job.lease.until > now.getTime() ? 'held' : 'unheld';
}

/** Builds the message of a job's round: a notice in the transaction that creates the job, then bus events. */
export const buildRound = (job: RedeliveryJob, round: number, now: Date): Notice => {
  const { webhookId, id: redeliveryId, traceId } = job;
  const data = { webhookId, redeliveryId, round };
  return createNotice('webhook.redelivery', `${redeliveryId}#round#${round}`, data, {
    ...{ tenant: job, now, traceId },
  });
};
