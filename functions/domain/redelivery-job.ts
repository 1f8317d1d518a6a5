import * as z from 'zod/mini';
import { type BusEvent, createNotice, type Notice } from './bus.ts';
import { type Delivery, Lease } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import { type AddressedEvent, EventTypeName, type OutboxEvent } from './events.ts';
import {
  type DeliveryId,
  deriveDeliveryId,
  deriveJobDeliveryId,
  EndpointId,
  newId,
  OrgId,
  parseCreationTime,
  RedeliveryJobId,
  TraceId,
  withTrace,
} from './ids.ts';
import { Defect } from './problem.ts';
import { HISTORY_DAYS, isFirstDelivery, isTooOld, repeatDelivery } from './redelivery.ts';
import type { Tenant } from './tenant.ts';
import { Timestamp } from './timestamp.ts';

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
  /** Deliveries or events up to this id are examined. Absent at the start. */
  place: z.optional(z.string()),
  /**
   * Start of the current page; unchanged when the page is repeated. Absent at the start and in older jobs.
   */
  pageAt: z.optional(Timestamp),
  /** Deliveries or events examined, and deliveries created, or counted by a dry run. */
  examined: z.int(),
  redelivered: z.int(),
  /** The latter by event type. */
  eventTypes: z._default(EventTypeCounts, {}),
  /** Time of the first event that is resent, or counted. */
  firstEventAt: z.optional(Timestamp),
  /** Number of the last message that was processed. */
  round: z.int(),
  /** How many deliveries it sends at a time. Absent at the start and in older jobs. */
  atOnce: z.optional(z.int()),
  createdAt: Timestamp,
  finishedAt: z.optional(Timestamp),
  lease: z.optional(Lease),
  traceId: TraceId,
});
export type RedeliveryJob = z.infer<typeof RedeliveryJob>;

/** Identifies a job: the parts of its key. */
export type RedeliveryJobRef = Pick<RedeliveryJob, 'id' | 'orgId' | 'generation' | 'webhookId'>;

/** Marks a running job, in a row of its own, so that lost messages can be found. */
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

/** Fields of a delivery that a job reads. */
export type ExaminedDelivery = Pick<Delivery, 'id' | 'eventId' | 'eventType' | 'status'>;

const includesStatus = ({ statuses }: RedeliveryJob, status: Delivery['status'] | undefined): boolean =>
  statuses.some((failed) => failed === status);

/** Lists the first deliveries of events whose redelivery failed: the job has to know how each ended. */
export const listFirstDeliveries = (
  job: RedeliveryJob,
  examined: readonly ExaminedDelivery[],
): { id: DeliveryId; webhookId: EndpointId; generation: number }[] => {
  const { webhookId, generation } = job;
  const repeated = examined.filter(
    (delivery) => includesStatus(job, delivery.status) && !isFirstDelivery({ ...delivery, webhookId }),
  );
  const ids = new Set(repeated.map(({ eventId }) => deriveDeliveryId(eventId, webhookId)));
  return [...ids].map((id) => ({ id, webhookId, generation }));
};

/**
 * Creates the deliveries of a job for one page, one per event. Ids are derived from job, page and event, so a
 * repeated page creates the same ones. They carry the page's time, so that a reader of the newest deliveries
 * finds them; where several redeliveries of an event may be on several pages, the job's time.
 * @param firsts how the first deliveries ended, of those that still exist
 */
export function createRedeliveries(
  job: RedeliveryJob,
  examined: readonly ExaminedDelivery[],
  firsts: ReadonlyMap<DeliveryId, Delivery['status']>,
  now: Date,
): Delivery[] {
  const { orgId, generation, webhookId, traceId } = job;
  const pageAt = new Date(job.pageAt ?? job.createdAt);
  const startedAt = new Date(job.createdAt);
  /** The job has examined it, or does so on this page: it was created before its redeliveries. */
  const isOwn = (first: DeliveryId) =>
    isInRange(job, parseCreationTime(first)) && includesStatus(job, firsts.get(first));
  const created = new Map<string, Delivery>();
  for (const delivery of examined) {
    const { eventId, status } = delivery;
    if (!includesStatus(job, status) || isTooOld(eventId, now) || created.has(eventId)) continue;
    const first = isFirstDelivery({ ...delivery, webhookId });
    if (!first && isOwn(deriveDeliveryId(eventId, webhookId))) continue;
    const id = deriveJobDeliveryId(eventId, webhookId, first ? pageAt : startedAt);
    created.set(eventId, repeatDelivery({ ...delivery, orgId, generation, webhookId }, id, now, traceId));
  }
  return [...created.values()];
}

/**
 * Ends a page after so many deliveries that may be resent. A page has many that succeeded, and few that a job
 * resends, unless all have failed.
 */
export function cutPage<T extends { items: ExaminedDelivery[]; place: string; isLast: boolean }>(
  job: RedeliveryJob,
  page: T,
  most: number,
): T {
  const failed = page.items.filter(({ status }) => includesStatus(job, status));
  const first = failed[most];
  const last = failed[most - 1];
  if (first === undefined || last === undefined) return page;
  const items = page.items.slice(0, page.items.indexOf(last) + 1);
  return { ...page, items, place: last.id, isLast: false };
}

/** Ends a page before a delivery that it leaves to the next one. */
export function endPageBefore<T extends { items: ExaminedDelivery[]; place: string; isLast: boolean }>(
  { what }: Pick<RedeliveryJob, 'what'>,
  page: T,
  { redeliveryOf }: Pick<Delivery, 'redeliveryOf'>,
): T {
  const items = page.items.slice(
    0,
    page.items.findIndex(({ id }) => id === redeliveryOf),
  );
  const last = items.at(-1);
  if (last === undefined) throw new Defect('a page was to end before its first delivery');
  return { ...page, items, place: what === 'missing' ? last.eventId : last.id, isLast: false };
}

/** The fields of an event that a job reads. */
export type ExaminedEvent = Pick<OutboxEvent, 'id'> & AddressedEvent;

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

export const toJobView = ({ eventTypes, atOnce: _, ...job }: RedeliveryJob) => ({
  ...job,
  eventTypes: Object.entries(eventTypes)
    .map(([type, count]) => ({ type, count }))
    .toSorted((one, other) => other.count - one.count || (one.type < other.type ? -1 : 1)),
  progress: computeProgress(job),
});

export const toRedeliveryRun = ({
  id,
  orgId,
  generation,
  webhookId,
  createdAt,
}: RedeliveryJob): RedeliveryRun => ({
  id,
  orgId,
  generation,
  webhookId,
  remindedAt: createdAt,
});

/**
 * Decides about a run without recent messages: `held` while a worker holds the job's lease, `unheld` when a
 * message is needed, `over` when the job ended or is gone.
 */
export function checkRun(job: RedeliveryJob | undefined, now: Date): 'over' | 'held' | 'unheld' {
  if (job?.status !== 'running') return 'over';
  return job.lease !== undefined && job.lease.until > now.getTime() ? 'held' : 'unheld';
}

const buildRoundId = ({ id }: Pick<RedeliveryJob, 'id'>, round: number): string => `${id}#round#${round}`;

/** Builds the notice that starts a job, for the transaction that creates it. */
export const buildFirstRound = (job: RedeliveryJob): Notice =>
  createNotice(
    'webhook.redelivery',
    buildRoundId(job, 1),
    { webhookId: job.webhookId, redeliveryId: job.id, round: 1 },
    { tenant: job, now: new Date(job.createdAt), traceId: job.traceId },
  );

/** Builds the event of a job's next round. */
export const buildNextRound = (job: RedeliveryJob, now: Date): BusEvent =>
  buildRound(job, job.round + 1, now);

/** Builds the event again whose message may be lost. A later round makes it obsolete. */
export const buildRepeatedRound = (job: RedeliveryJob, now: Date): BusEvent =>
  buildRound(job, Math.max(1, job.round), now);

const buildRound = (job: RedeliveryJob, round: number, now: Date): BusEvent => {
  const { orgId, generation, webhookId, id: redeliveryId, traceId } = job;
  return {
    id: buildRoundId(job, round),
    type: 'webhook.redelivery',
    orgId,
    generation,
    createdAt: now.toISOString(),
    data: { webhookId, redeliveryId, round },
    ...withTrace(traceId),
  };
};
