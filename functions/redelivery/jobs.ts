import * as z from 'zod/mini';
import { all, assign, expression, unchanged } from '../aws/expression.ts';
import {
  DeliveryId,
  newId,
  OrgId,
  parseCreationTime,
  ReceiverId,
  RedeliveryJobId,
  Timestamp,
  TraceId,
  withTrace,
} from '../aws/ids.ts';
import { type Page, type PageRequest, readPage } from '../aws/pages.ts';
import {
  get,
  IS_NEW,
  isHeld,
  lease,
  parseReadable,
  query,
  type Row,
  release,
  remove,
  type Table,
  toExpiry,
  update,
} from '../aws/table.ts';
import {
  buildAddition,
  buildDelete,
  buildPut,
  buildUpdate,
  type Change,
  type Commit,
} from '../aws/transaction.ts';
import { type Delivery, Lease, SkipReason } from '../delivery/delivery.ts';
import { type RedeliveryRecord, recordRedelivery } from '../delivery/redelivery.ts';
import { deliveryStore } from '../delivery/rows.ts';
import { EXPIRY_SECONDS } from '../delivery/timing.ts';
import { createNotice, type Notice } from '../events/bus.ts';
import { EventTypeName, HISTORY_DAYS } from '../events/events.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import { buildSandboxMark, keys } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';

/** Days for which a finished job can be read. */
const JOB_DAYS = 30;

/** Statuses of deliveries that a job resends, and those of them that are failures. */
export const ResentStatus = z.enum(['exhausted', 'skipped', 'succeeded']);
export const FAILED_STATUSES: z.infer<typeof ResentStatus>[] = ['exhausted', 'skipped'];

/**
 * What a job resends: the endpoint's own deliveries that failed, or every event of its types that it has not
 * received, those before its registration included.
 */
export const RedeliverySelection = z.enum(['failed', 'missing']);

export const RedeliveryJobStatus = z.enum(['running', 'done', 'stopped']);

/** Why a job stopped early. */
export const StopReason = z.enum([
  'cancelled',
  'endpoint_disabled',
  'endpoint_deleted',
  'endpoint_paused',
  'test_failed',
]);

/** A job that resends what an endpoint lacks in a time range, with its progress. */
export const RedeliveryJob = z.object({
  id: RedeliveryJobId,
  orgId: OrgId,
  generation: z.int(),
  webhookId: ReceiverId,
  status: RedeliveryJobStatus,
  reason: z.optional(StopReason),
  what: RedeliverySelection,
  /** Set for a job that only counts. */
  dryRun: z.optional(z.literal(true)),
  /** Time range of the deliveries or events by their ids; `from` inclusive, `to` exclusive. */
  from: Timestamp,
  to: Timestamp,
  statuses: z.array(ResentStatus),
  /** Of skipped deliveries, only those with one of these reasons. */
  reasons: z.optional(z.array(SkipReason)),
  /** The test after whose success it begins. */
  test: z.optional(DeliveryId),
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
  eventTypes: z.partialRecord(EventTypeName, z.int()),
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
  ...{ id: RedeliveryJobId, orgId: OrgId, generation: z.int(), webhookId: ReceiverId },
  /** When a message was last sent for it outside of its rounds; at first, its creation. */
  remindedAt: Timestamp,
});
export type RedeliveryRun = z.infer<typeof RedeliveryRun>;

export type LeasedJob = RedeliveryJob & { lease: Lease };

interface JobContext {
  tenant: Tenant;
  now: Date;
  traceId?: TraceId;
}

/**
 * Creates the job that a customer asks for. Its range ends now at the latest, so that it does not include its
 * own deliveries, and begins where events can still be resent. A dry run may count for an endpoint that gets
 * nothing.
 * @param request times in ISO 8601
 */
export function createJob(
  request: {
    what?: RedeliveryJob['what'] | undefined;
    dryRun?: boolean | undefined;
    from: string;
    to?: string | undefined;
    statuses: RedeliveryJob['statuses'];
  },
  endpoint: { id: ReceiverId; status: Endpoint['status'] },
  context: JobContext,
) {
  const now = context.now.getTime();
  const to = Math.min(request.to === undefined ? now : Date.parse(request.to), now);
  if (Date.parse(request.from) >= to) return { kind: 'refused', why: 'no-time' } as const;
  if (to <= computeEarliest(context.now)) return { kind: 'refused', why: 'too-old' } as const;
  if (endpoint.status !== 'active' && request.dryRun !== true)
    return { kind: 'refused', why: endpoint.status } as const;
  const { what = 'failed', dryRun, statuses } = request;
  const range = { from: Date.parse(request.from), to };
  const asked = { what, statuses, ...(dryRun === true ? { dryRun } : {}) } as const;
  return { kind: 'job', job: buildJob(endpoint.id, range, asked, context) } as const;
}

/**
 * Seconds after the end of a pause in which workers that saw it may still skip deliveries: longer than the
 * timeouts of the fan-out and of the dispatcher, and the age of an eventually consistent read.
 */
const PAUSE_ECHO_SECONDS = 90;

/**
 * Creates the job that sends what was skipped during a pause. A delivery can have been open for some days
 * before. It begins when nothing that saw the pause is still at work.
 * @param pausedAt in ISO 8601
 */
export const createCatchUpJob = (id: ReceiverId, pausedAt: string, context: JobContext): RedeliveryJob =>
  buildJob(
    id,
    {
      from: Date.parse(pausedAt) - EXPIRY_SECONDS * 1000,
      to: context.now.getTime() + PAUSE_ECHO_SECONDS * 1000,
    },
    { what: 'failed', statuses: ['skipped'], reasons: ['endpoint_paused'] },
    context,
  );

/** Time before the first failure of a receiver from which a job recovers events. */
const BEFORE_FAILURE_MS = 2 * 3_600_000;

/**
 * Creates the job that sends a channel what it missed while it failed and was disabled. It begins when
 * nothing that saw the channel disabled is still at work.
 * @param stopped the job before it, which this one continues: a pause or another disabling has stopped it
 */
export function createRecoveryJob(
  channel: Pick<Endpoint, 'id' | 'createdAt' | 'failingSince' | 'disabledAt' | 'pausedAt'>,
  stopped: RedeliveryJob | undefined,
  context: JobContext,
): RedeliveryJob {
  const { id, createdAt, failingSince, disabledAt = createdAt, pausedAt = disabledAt } = channel;
  const since = Date.parse(failingSince ?? pausedAt) - BEFORE_FAILURE_MS;
  const from = stopped === undefined ? since : Math.min(since, Date.parse(stopped.from));
  const to = context.now.getTime() + PAUSE_ECHO_SECONDS * 1000;
  return buildJob(id, { from, to }, { what: 'failed', statuses: FAILED_STATUSES }, context);
}

/**
 * Creates the job that sends an endpoint what its predecessor missed, once a test has succeeded.
 * @param test delivery of the test
 * @param recoversFrom time from which the predecessor was to recover events itself, which it may not have
 */
export const createSuccessorJob = (
  id: ReceiverId,
  { failingSince, disabledAt }: NonNullable<Endpoint['predecessor']>,
  { test, recoversFrom }: { test: DeliveryId; recoversFrom?: string | undefined },
  context: JobContext,
): RedeliveryJob =>
  buildJob(
    id,
    {
      from: Math.min(
        Date.parse(failingSince ?? disabledAt) - BEFORE_FAILURE_MS,
        recoversFrom === undefined ? Number.POSITIVE_INFINITY : Date.parse(recoversFrom),
      ),
      to: context.now.getTime(),
    },
    { what: 'missing', statuses: FAILED_STATUSES, test },
    context,
  );

const computeEarliest = (now: Date): number => now.getTime() - HISTORY_DAYS * 86_400_000;

/** @param range milliseconds since the epoch */
const buildJob = (
  webhookId: ReceiverId,
  range: { from: number; to: number },
  asked: Pick<RedeliveryJob, 'what' | 'dryRun' | 'statuses' | 'reasons' | 'test'>,
  { tenant, now, traceId }: JobContext,
): RedeliveryJob => ({
  id: newId('rdj', now),
  orgId: tenant.orgId,
  generation: tenant.generation,
  webhookId,
  status: 'running',
  ...asked,
  from: new Date(Math.max(range.from, computeEarliest(now))).toISOString(),
  to: new Date(range.to).toISOString(),
  examined: 0,
  redelivered: 0,
  eventTypes: {},
  round: 0,
  createdAt: now.toISOString(),
  ...withTrace(traceId),
});

type Counted = Pick<Delivery, 'eventId' | 'eventType'>;

/** Adds deliveries to a job's counts. */
function addToCounts(
  { eventTypes, firstEventAt }: RedeliveryJob,
  deliveries: readonly Counted[],
): Pick<RedeliveryJob, 'eventTypes' | 'firstEventAt'> {
  const counts = { ...eventTypes };
  for (const { eventType } of deliveries) counts[eventType] = (counts[eventType] ?? 0) + 1;
  const times = deliveries.map(({ eventId }) => parseCreationTime(eventId).toISOString());
  const [first] = [...times, ...(firstEventAt === undefined ? [] : [firstEventAt])].sort();
  return { eventTypes: counts, ...(first === undefined ? {} : { firstEventAt: first }) };
}

/** Examined share of the job's range, from 0 to 1. A finished job is at 1. */
export function computeProgress(job: Pick<RedeliveryJob, 'status' | 'from' | 'to' | 'place'>): number {
  if (job.status === 'done') return 1;
  if (job.place === undefined) return 0;
  const [from, to] = [Date.parse(job.from), Date.parse(job.to)];
  const share = (parseCreationTime(job.place as DeliveryId).getTime() - from) / (to - from);
  return Math.round(Math.min(1, Math.max(0, share)) * 10_000) / 10_000;
}

export const toJobView = ({ eventTypes, ...job }: RedeliveryJob) => ({
  ...job,
  statuses: job.what === 'missing' ? [] : job.statuses,
  eventTypes: Object.entries(eventTypes)
    .map(([type, count]) => ({ type, count }))
    .toSorted((one, other) => other.count - one.count || (one.type < other.type ? -1 : 1)),
  progress: computeProgress(job),
});

export const toRedeliveryRun = (job: RedeliveryJob): RedeliveryRun =>
  RedeliveryRun.parse({ ...job, remindedAt: job.createdAt });

/** Builds the message of a job's round: a notice in the transaction that creates the job, then bus events. */
export function buildRound(job: RedeliveryJob, round: number, now: Date): Notice {
  const { webhookId, id: redeliveryId, traceId } = job;
  const id = `${redeliveryId}#round#${round}`;
  const data = { webhookId, redeliveryId, round };
  return createNotice('webhook.redelivery', id, data, { tenant: job, now, traceId });
}

const IS_RUNNING = expression`#status = ${'running'}`;

/** The endpoint's run is of this job, not of a later one. */
const isOf = ({ id }: Pick<RedeliveryJob, 'id'>) => expression`id = ${id}`;

export const buildJobKey = (job: RedeliveryJobRef) => keys.redeliveryJob(job, job.webhookId, job.id);

export interface JobEnd {
  status: 'done' | 'stopped';
  reason?: RedeliveryJob['reason'];
  at: Date;
}

/**
 * Ends a job, which allows the endpoint's next one; refused as `redelivery-over` when it has ended.
 * @param held the worker's lease, which must be current and ends with the job
 */
function buildJobEnd(
  service: Pick<Table, 'name'>,
  job: RedeliveryJobRef,
  { status, reason, at }: JobEnd,
  held?: Lease,
): Change[] {
  const refusal = 'redelivery-over';
  const set = assign({ status, finishedAt: at.toISOString(), expiresAt: toExpiry(at, JOB_DAYS), reason });
  return [
    buildUpdate(service, buildJobKey(job), {
      refusal,
      update: held === undefined ? expression`SET ${set}` : expression`SET ${set} REMOVE lease`,
      if: all(IS_RUNNING, held && isHeld(held)),
    }),
    buildDelete(service, keys.redeliveryRun(job), { refusal, if: isOf(job) }),
  ];
}

/** Runs per page; small enough that a worker's time can end between two pages. */
const RUNS = 100;

/** Jobs among which the last one that sends is looked for: the others count. */
const LATEST = 20;

/** Creates, reads and stops redelivery jobs, and finds running ones whose message may be lost. */
export function redeliveryJobs(service: Table) {
  return {
    async find(tenant: Tenant, endpoint: ReceiverId, id: RedeliveryJobId) {
      const row = await get(service, keys.redeliveryJob(tenant, endpoint, id));
      return row && RedeliveryJob.parse(row);
    },

    list(tenant: Tenant, endpoint: ReceiverId, page: PageRequest): Promise<Page<RedeliveryJob>> {
      return readPage(service, [keys.redeliveryJobs(tenant, endpoint)], page, {
        parse: (row) => RedeliveryJob.parse(row),
      });
    },

    /** The last job of a receiver that sends, if a pause or a disabling has stopped it. */
    async findStopped(tenant: Tenant, receiver: ReceiverId): Promise<RedeliveryJob | undefined> {
      const { items } = await this.list(tenant, receiver, { limit: LATEST });
      const last = items.find(({ dryRun }) => dryRun !== true);
      const isStopped = last?.reason === 'endpoint_disabled' || last?.reason === 'endpoint_paused';
      return isStopped ? last : undefined;
    },

    /** Adds a job and its run; refused as `redelivery-running` while another one of the endpoint runs. */
    start(job: RedeliveryJob): Change[] {
      const run = toRedeliveryRun(job);
      const mark = buildSandboxMark(job);
      const expiresAt = toExpiry(new Date(job.createdAt), JOB_DAYS);
      const row = { ...keys.redeliveryRun(run), ...mark, ...run };
      return [
        buildPut(service, row, { refusal: 'redelivery-running', if: IS_NEW }),
        buildAddition(service, { ...buildJobKey(job), ...mark, ...job, expiresAt }),
      ];
    },

    /** Stops a job. Its worker notices before it adds further deliveries. */
    stop: (job: RedeliveryJobRef, at: Date): Change[] =>
      buildJobEnd(service, job, { status: 'stopped', reason: 'cancelled', at }),

    /**
     * Returns a shard's runs without a message since `until`. Reads all runs: at most one per endpoint.
     * @param after end of the previous page
     */
    async findRuns(shard: number, until: Date, after?: Row) {
      const { rows, next } = await query(service, {
        where: expression`pk = ${keys.redeliveryRuns(shard)}`,
        filter: expression`remindedAt <= ${until.toISOString()}`,
        limit: RUNS,
        after,
      });
      return { ...parseReadable(rows, (row) => RedeliveryRun.parse(row)), ...(next && { next }) };
    },

    /** Records that a message was sent. Does nothing when another worker recorded one, or the run ended. */
    async recordMessage(run: RedeliveryRun, at: Date): Promise<void> {
      await update(service, keys.redeliveryRun(run), {
        update: expression`SET remindedAt = ${at.toISOString()}`,
        if: all(isOf(run), unchanged(run, ['remindedAt'])),
      });
    },

    async removeRun(run: RedeliveryRun): Promise<void> {
      await remove(service, keys.redeliveryRun(run), { if: isOf(run) });
    },
  };
}

/** Workers' writes to redelivery jobs, refused unless the worker holds the job's lease. */
export function redeliveryRounds(
  { service, deliveries }: { service: Table; deliveries: Table },
  commit: Commit,
) {
  const { adding } = deliveryStore(deliveries);
  return {
    /**
     * Leases a running job.
     * @returns `isAfterLoss` when the worker before did not release the lease, and so may have been lost;
     * `busy` when another worker has the lease; `over` when the job ended or does not exist, or a later
     * message continues it
     */
    async lease(
      ref: RedeliveryJobRef,
      { round, now, leaseSeconds }: { round: number; now: Date; leaseSeconds: number },
    ): Promise<{ kind: 'leased'; job: LeasedJob; isAfterLoss: boolean } | { kind: 'busy' | 'over' }> {
      const taken = await lease(service, buildJobKey(ref), {
        now,
        seconds: leaseSeconds,
        set: { round },
        if: all(IS_RUNNING, expression`#round <= ${round}`),
        returns: 'old',
      });
      const job = taken.row && RedeliveryJob.parse(taken.row);
      if (job === undefined) return { kind: 'over' };
      // After a lost response, the row is the one with this lease, which counts as a loss.
      const isAfterLoss = job.lease !== undefined;
      if (taken.kind === 'leased')
        return { kind: 'leased', job: { ...job, round, lease: taken.lease }, isAfterLoss };
      return { kind: job.status !== 'running' || job.round > round ? 'over' : 'busy' };
    },

    /**
     * Saves that a job has examined so many items, up to an id, and what it has resent of them.
     * @returns the stored job, possibly stopped meanwhile; undefined when the lease is lost or the job is
     * gone
     */
    async save(
      job: LeasedJob,
      { place, examined, resent }: { place: string; examined: number; resent: readonly Counted[] },
    ): Promise<RedeliveryJob | undefined> {
      const set = assign({ place, ...addToCounts(job, resent) });
      const { kind, row } = await update(service, buildJobKey(job), {
        update: expression`SET ${set} ADD examined ${examined}, redelivered ${resent.length}`,
        // The position makes a retried request count once.
        if: all(isHeld(job.lease), unchanged({ place: job.place }, ['place'])),
        returns: 'new',
        isDone: (stored) => Object(stored.lease).token === job.lease.token && stored.place === place,
      });
      return kind === 'done' ? RedeliveryJob.parse(row) : undefined;
    },

    /**
     * Records up to which id a job is about to create deliveries.
     * @returns whether it still runs: not when it was stopped or the lease is lost
     */
    async reach(job: LeasedJob, place = ''): Promise<boolean> {
      const reach = job.reach === undefined || place > job.reach ? place : job.reach;
      const { kind } = await update(service, buildJobKey(job), {
        update: expression`SET reach = ${reach}`,
        if: all(IS_RUNNING, isHeld(job.lease)),
      });
      return kind === 'done';
    },

    /**
     * Adds a job's redelivery.
     * @param read the event's record as it was read
     * @returns false when another redelivery of the event was added since
     * @throws Contended
     */
    async add(job: LeasedJob, delivery: Delivery, read: Partial<RedeliveryRecord>): Promise<boolean> {
      const record = recordRedelivery(service, delivery, { job, read });
      return (await commit([adding(delivery), record])).kind === 'committed';
    },

    /** Records that a job still waits for its beginning, so that its message does not count as lost. */
    async recordWait(job: LeasedJob, at: Date): Promise<void> {
      await update(service, keys.redeliveryRun(job), {
        update: expression`SET remindedAt = ${at.toISOString()}`,
        if: isOf(job),
      });
    },

    /** Releases a job after a round; its next message continues it. */
    release: (job: LeasedJob) => release(service, buildJobKey(job), job.lease),

    /**
     * Ends a job.
     * @returns false when it was stopped meanwhile, or the lease is lost
     * @throws Contended
     */
    async end(job: LeasedJob, end: JobEnd): Promise<boolean> {
      return (await commit(buildJobEnd(service, job, end, job.lease))).kind === 'committed';
    },
  };
}
