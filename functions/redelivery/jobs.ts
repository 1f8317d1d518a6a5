import { all, assign, expression, unchanged } from '../aws/expression.ts';
import type { EndpointId } from '../aws/ids.ts';
import { type Page, type PageRequest, readPage } from '../aws/pages.ts';
import {
  get,
  IS_NEW,
  isHeld,
  type Lease,
  lease,
  parseReadable,
  query,
  type Row,
  release,
  remove,
  type Table,
  toExpiry,
  type UnreadableRow,
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
import { deliveryStore } from '../delivery/deliveries.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { RedeliveryRecord } from '../delivery/redelivery.ts';
import { recordRedelivery } from '../delivery/redelivery-records.ts';
import { buildSandboxMark, keys } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import {
  JOB_DAYS,
  type LeasedJob,
  RedeliveryJob,
  type RedeliveryJobRef,
  type RedeliveryJobStatus,
  RedeliveryRun,
  type StopReason,
  toRedeliveryRun,
} from './job.ts';

const IS_RUNNING = expression`#status = ${'running'}`;

/** @throws a zod error when the row holds no job */
export const parseJob = (row: unknown): RedeliveryJob => RedeliveryJob.parse(row);
export const buildJobKey = (job: RedeliveryJobRef) => keys.redeliveryJob(job, job.webhookId, job.id);

export interface JobEnd {
  status: Exclude<RedeliveryJobStatus, 'running'>;
  reason?: StopReason;
  at: Date;
}

/** Creates, reads and stops redelivery jobs. */
export function redeliveryJobs(service: Table) {
  return {
    async find(tenant: Tenant, endpoint: EndpointId, id: RedeliveryJob['id']) {
      const row = await get(service, keys.redeliveryJob(tenant, endpoint, id));
      return row && parseJob(row);
    },

    list(tenant: Tenant, endpoint: EndpointId, page: PageRequest): Promise<Page<RedeliveryJob>> {
      return readPage(service, [keys.redeliveryJobs(tenant, endpoint)], page, { parse: parseJob });
    },

    /** Adds a job and its run; refused as `redelivery-running` while another one of the endpoint runs. */
    start(job: RedeliveryJob): Change[] {
      const run = toRedeliveryRun(job);
      const expiresAt = toExpiry(new Date(job.createdAt), JOB_DAYS);
      const mark = buildSandboxMark(job);
      return [
        buildPut(
          service,
          { ...keys.redeliveryRun(run), ...mark, ...run },
          { refusal: 'redelivery-running', if: IS_NEW },
        ),
        buildAddition(service, { ...buildJobKey(job), ...mark, ...job, expiresAt }),
      ];
    },

    /** Stops a job. Its worker notices when it next saves progress; the current page still counts. */
    stop(job: RedeliveryJobRef, at: Date): Change[] {
      return buildJobEnd(service, job, { status: 'stopped', reason: 'cancelled', at });
    },
  };
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

/** The endpoint's run is of this job, not of a later one. */
const isOf = ({ id }: Pick<RedeliveryJob, 'id'>) => expression`id = ${id}`;

/** Rows per page; small enough that a run can end between two pages. */
const PAGE = 100;

/** Running redelivery jobs, for the worker that resends lost job messages. */
export function redeliveryRuns(service: Table) {
  return {
    /**
     * Returns a shard's runs without a message since `until`. Reads all runs: at most one per endpoint.
     * @param after end of the previous page
     */
    async find(
      shard: number,
      until: Date,
      after?: Row,
    ): Promise<{ entries: RedeliveryRun[]; unreadable: UnreadableRow[]; next?: Row }> {
      const { rows, next } = await query(service, {
        where: expression`pk = ${keys.redeliveryRuns(shard)}`,
        filter: expression`remindedAt <= ${until.toISOString()}`,
        limit: PAGE,
        after,
      });
      return { ...parseReadable(rows, (row) => RedeliveryRun.parse(row)), ...(next && { next }) };
    },

    /** Records that a message was sent. Does nothing when another worker recorded one, or the run ended. */
    async reminded(run: RedeliveryRun, at: Date): Promise<void> {
      await update(service, keys.redeliveryRun(run), {
        update: expression`SET remindedAt = ${at.toISOString()}`,
        if: all(isOf(run), unchanged(run, ['remindedAt'])),
      });
    },

    async remove(run: RedeliveryRun): Promise<void> {
      await remove(service, keys.redeliveryRun(run), { if: isOf(run) });
    },
  };
}

export type JobLeaseResult =
  /** `isRepeated` when a worker had processed the same message before, and may have been lost. */
  | { kind: 'leased'; job: LeasedJob; isRepeated: boolean }
  /** Another worker has the lease. */
  | { kind: 'busy' }
  /** The job ended or does not exist, or a later message continues it. */
  | { kind: 'over' };

/** Workers' writes to redelivery jobs, refused unless the worker holds the job's lease. */
export function redeliveryRounds(
  { service, deliveries }: { service: Table; deliveries: Table },
  commit: Commit,
) {
  const { adding } = deliveryStore(deliveries);
  return {
    /** Leases a running job unless a later message was processed. */
    async lease(
      ref: RedeliveryJobRef,
      { round, now, leaseSeconds }: { round: number; now: Date; leaseSeconds: number },
    ): Promise<JobLeaseResult> {
      const taken = await lease(service, buildJobKey(ref), {
        now,
        seconds: leaseSeconds,
        set: { round },
        if: all(IS_RUNNING, expression`#round <= ${round}`),
        returns: 'old',
      });
      const found = taken.row && parseJob(taken.row);
      // After a lost response, the row is the one with this lease, which counts as a repetition.
      if (taken.kind === 'leased' && found)
        return {
          kind: 'leased',
          job: { ...found, round, lease: taken.lease },
          isRepeated: found.round === round,
        };
      if (found === undefined || found.status !== 'running' || found.round > round) return { kind: 'over' };
      return { kind: 'busy' };
    },

    /**
     * Saves that a job has processed a page.
     * @param page `place`: id up to which all is examined; `eventTypes`, `firstEventAt`: of the job with this
     * page
     * @returns the stored job, possibly stopped meanwhile; undefined when the lease is lost or the job is
     * gone
     */
    async save(
      job: LeasedJob,
      {
        place,
        examined,
        redelivered,
        ...totals
      }: Pick<RedeliveryJob, 'examined' | 'redelivered' | 'eventTypes' | 'firstEventAt'> & { place: string },
    ): Promise<RedeliveryJob | undefined> {
      const set = assign({ place, ...totals });
      const { kind, row } = await update(service, buildJobKey(job), {
        update: expression`SET ${set} ADD examined ${examined}, redelivered ${redelivered}`,
        // The position makes a retried request count once.
        if: all(isHeld(job.lease), unchanged({ place: job.place }, ['place'])),
        returns: 'new',
        isDone: (found) => Object(found.lease).token === job.lease.token && found.place === place,
      });
      return kind === 'done' ? parseJob(row) : undefined;
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

    /**
     * Records up to which id a job is about to create deliveries.
     * @returns whether it still runs: not when it was stopped or the lease is lost
     */
    async reach(job: LeasedJob, reach: string): Promise<boolean> {
      const { kind } = await update(service, buildJobKey(job), {
        update: expression`SET reach = ${reach}`,
        if: all(IS_RUNNING, isHeld(job.lease)),
      });
      return kind === 'done';
    },

    /** Releases a job after a round; its next message continues it. */
    async release(job: LeasedJob): Promise<void> {
      await release(service, buildJobKey(job), job.lease);
    },

    /**
     * Ends a job. Refused when it was stopped meanwhile, or the lease is lost.
     * @throws Contended
     */
    async end(job: LeasedJob, end: JobEnd): Promise<'done' | 'refused'> {
      const { kind } = await commit(buildJobEnd(service, job, end, job.lease));
      return kind === 'committed' ? 'done' : 'refused';
    },
  };
}
