import * as z from 'zod/mini';
import { type BusEvent, createNotice, type Notice } from './bus.ts';
import { type Delivery, DeliveryMessage, Lease, OPEN_STATUSES } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import type { OutboxEvent } from './events.ts';
import {
  DeliveryId,
  deriveDeliveryId,
  deriveJobDeliveryId,
  EndpointId,
  EventId,
  newId,
  OrgId,
  parseCreationTime,
  RedeliveryJobId,
  TraceId,
  withTrace,
} from './ids.ts';
import type { Tenant } from './tenant.ts';

/** Days from its creation for which an event can be sent again; deliveries are kept for as long. */
export const HISTORY_DAYS = 30;

/**
 * Days for which an event is kept. Each attempt reads the body, so it has to outlive the attempts of a
 * delivery that was sent again at the last moment: these span 63.5 minutes, and 51 hours under the slowest
 * retry policy that a deployment may set.
 */
export const EVENT_DAYS = HISTORY_DAYS + 3;

/** Why a delivery is not sent again. */
export type RedeliveryRefusal = 'still-open' | 'endpoint-disabled' | 'event-expired';

export type Redelivery =
  | { kind: 'redeliver'; delivery: Delivery }
  | { kind: 'refused'; why: RedeliveryRefusal };

/**
 * The new delivery that sends a finished one's event again, whatever its end was and however often that is
 * asked for (decisions.md, Deliveries: Redelivery). It has all its attempts before it, and an identifier of
 * its own, so that receivers which drop what they have seen by `webhook-id` take it. Whether the endpoint
 * still subscribes to the event does not matter.
 */
export function createRedelivery(
  delivery: Delivery,
  endpoint: Pick<Endpoint, 'status'>,
  now: Date,
  traceId?: TraceId,
): Redelivery {
  if (OPEN_STATUSES.some((open) => open === delivery.status)) return { kind: 'refused', why: 'still-open' };
  if (endpoint.status === 'auto_disabled') return { kind: 'refused', why: 'endpoint-disabled' };
  if (isTooOld(delivery.eventId, now)) return { kind: 'refused', why: 'event-expired' };
  return { kind: 'redeliver', delivery: repeatDelivery(delivery, newId('dlv', now), now, traceId) };
}

const MS_PER_DAY = 86_400_000;

/** Whether an event can no longer be sent again. */
const isTooOld = (event: EventId, now: Date): boolean =>
  now.getTime() - parseCreationTime(event).getTime() > HISTORY_DAYS * MS_PER_DAY;

/** A delivery that has all its attempts before it, of the event that another one had. */
export const repeatDelivery = (
  repeated: Pick<Delivery, 'id' | 'orgId' | 'generation' | 'webhookId' | 'eventId' | 'eventType'>,
  id: Delivery['id'],
  createdAt: Date,
  traceId: TraceId,
): Delivery => ({
  id,
  orgId: repeated.orgId,
  generation: repeated.generation,
  webhookId: repeated.webhookId,
  eventId: repeated.eventId,
  eventType: repeated.eventType,
  status: 'pending',
  attempts: 0,
  attemptLog: [],
  createdAt: createdAt.toISOString(),
  redeliveryOf: repeated.id,
  ...withTrace(traceId),
});

/** What of a delivery says why it is there: its identifier, and what that was derived from. */
type Named = Pick<Delivery, 'id' | 'eventId' | 'webhookId'>;

/**
 * Whether an event owed this delivery, of which there is one for each endpoint; whatever else there is of
 * that event repeats it.
 */
const isFirstDelivery = ({ id, eventId, webhookId }: Named): boolean =>
  id === deriveDeliveryId(eventId, webhookId);

/** Whether a redelivery job made this delivery. */
export const isFromJob = ({ id, eventId, webhookId }: Named): boolean =>
  id === deriveJobDeliveryId(eventId, webhookId, parseCreationTime(id));

/**
 * The message group in a fair queue: the organization. SQS holds back a group with more than a tenth of the
 * messages in flight (SQS Developer Guide, fair queues); fifty groups of one organization, one for each
 * endpoint, would stay below that. Redelivery jobs send hundreds of messages and have a second group, so that
 * new events do not wait behind them.
 */
export const getMessageGroup = (deliveryMessage: DeliveryMessage): string =>
  isFromJob(deliveryMessage) ? `${deliveryMessage.orgId}/redelivery` : deliveryMessage.orgId;

/**
 * Whether a person asked for this delivery and waits to see it: a test, or one that repeats another, whose
 * identifier no event gives. One of a job is one of many, and waits for its turn like those of events.
 */
export const isRequestedByCustomer = (delivery: Named, { type }: Pick<OutboxEvent, 'type'>): boolean =>
  !isFromJob(delivery) && (type === 'webhook.test' || !isFirstDelivery(delivery));

/**
 * That an event has arrived at an endpoint by a redelivery, and by which: the delivery that failed says so
 * for ever, and a redelivery job has to know better. First deliveries need none. Redeliveries that succeeded
 * before this was noted have none either.
 */
export const Arrival = z.object({ eventId: EventId, deliveryId: DeliveryId });
export type Arrival = z.infer<typeof Arrival>;

/**
 * What the outbox holds for a redelivery: its delivery was committed with it, so that only the reminder is
 * owed.
 */
export const RedeliveryOrder = z.object({ kind: z.literal('redelivery'), reminder: DeliveryMessage });
export type RedeliveryOrder = z.infer<typeof RedeliveryOrder>;

/**
 * What an entry of the outbox owes: an event its deliveries with their reminders, a redelivery its reminder.
 */
export type OutboxWork = { kind: 'event'; event: OutboxEvent } | RedeliveryOrder;

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
  /**
   * When the page under way was begun, which is the same when it is repeated. Absent before, and in jobs of
   * before it was noted.
   */
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

/** A new job, or why there is none. */
export type JobCreation =
  | { kind: 'job'; job: RedeliveryJob }
  | { kind: 'refused'; why: 'endpoint-disabled' | 'no-time' | 'too-old' };

/**
 * A new job. Its time ends now at the latest, so that what it makes is not in it, and begins where events can
 * still be sent again.
 * @param asked times, ISO 8601
 */
export function createJob(
  asked: { from: string; to?: string | undefined; statuses: readonly FailedStatus[] },
  endpoint: { id: EndpointId; status: Endpoint['status'] },
  { tenant, now, traceId }: { tenant: Tenant; now: Date; traceId?: TraceId },
): JobCreation {
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
      ...withTrace(traceId),
    },
  };
}

/** What a job has to know of a delivery. */
export type ExaminedDelivery = Pick<Delivery, 'id' | 'eventId' | 'eventType' | 'status'>;

/** Whether a job sends again what has ended so. */
const includesStatus = ({ statuses }: RedeliveryJob, status: Delivery['status'] | undefined): boolean =>
  statuses.some((failed) => failed === status);

/**
 * The first deliveries of events that failed again when they were repeated: whether one of them is a job's
 * own has to be known of each.
 */
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
 * The new deliveries that a job owes for a page of those that it examines, one for each event of the job.
 * Their identifiers follow from job, page and event: whoever makes them again makes the same. They carry the
 * time of the page, so that they come in the order in which they are made and whoever reads on from the
 * newest one meets them; of an event whose first delivery is not the job's, but several that repeated it may
 * be, on several pages, that of the job.
 * @param firsts what `firstsOf` asked for: how those ended that are still there
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
  /** One that it has met, or meets here: it was created before all that repeat it. */
  const isOwn = (first: DeliveryId) =>
    isInRange(job, parseCreationTime(first)) && includesStatus(job, firsts.get(first));
  const made = new Map<string, Delivery>();
  for (const delivery of examined) {
    const { eventId, status } = delivery;
    if (!includesStatus(job, status) || isTooOld(eventId, now) || made.has(eventId)) continue;
    const first = isFirstDelivery({ ...delivery, webhookId });
    if (!first && isOwn(deriveDeliveryId(eventId, webhookId))) continue;
    const id = deriveJobDeliveryId(eventId, webhookId, first ? pageAt : startedAt);
    made.set(eventId, repeatDelivery({ ...delivery, orgId, generation, webhookId }, id, now, traceId));
  }
  return [...made.values()];
}

const isInRange = ({ from, to }: RedeliveryJob, time: Date): boolean =>
  time.getTime() >= Date.parse(from) && time.getTime() < Date.parse(to);

/**
 * The part of its time that a job has examined, from 0 to 1. One that is done has come to its end, whatever
 * there was.
 */
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

/** A job as its owner sees it. */
export const toJobView = (job: RedeliveryJob) => ({ ...job, progress: computeProgress(job) });

/** The run of a job that begins. */
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
 * What is to be done about a run that nobody was reminded of for long: nothing while a worker has the job,
 * and a message when none has it, which may be one too many. One whose job has ended, or is gone, is over.
 */
export function checkRun(job: RedeliveryJob | undefined, now: Date): 'over' | 'held' | 'unheld' {
  if (job?.status !== 'running') return 'over';
  return job.lease !== undefined && job.lease.until > now.getTime() ? 'held' : 'unheld';
}

const buildRoundId = ({ id }: Pick<RedeliveryJob, 'id'>, round: number): string => `${id}#round#${round}`;

/** Has the job begun with, in the transaction that makes it. */
export const buildFirstRound = (job: RedeliveryJob): Notice =>
  createNotice(
    'webhook.redelivery',
    buildRoundId(job, 1),
    { webhookId: job.webhookId, redeliveryId: job.id, round: 1 },
    { tenant: job, now: new Date(job.createdAt), traceId: job.traceId },
  );

/** Has a job gone on with, as the bus would say it. */
export const buildNextRound = (job: RedeliveryJob, now: Date): BusEvent =>
  buildRound(job, job.round + 1, now);

/**
 * Has a job gone on with whose message may be lost. Beside a later one that is not, it is out of date and
 * does nothing.
 */
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
