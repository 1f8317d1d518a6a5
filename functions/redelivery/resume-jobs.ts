import { mapConcurrently } from '../aws/concurrency.ts';
import type { Log } from '../aws/log-codes.ts';
import type { BusEvent } from '../events/bus.ts';
import { createGenerationCheck, type OrganizationStates } from '../tenancy/organizations.ts';
import { type DuePage, type Position, takeTurns } from '../tenancy/turns.ts';
import {
  buildRepeatedRound,
  checkRun,
  type RedeliveryJob,
  type RedeliveryJobRef,
  type RedeliveryRun,
} from './job.ts';

export interface ResumeRedeliveryJobsPorts {
  runs: {
    /** Runs without a message since `until`. */
    find(shard: number, until: Date, after?: Position): Promise<DuePage<RedeliveryRun>>;
    /** Does nothing when the run has ended or was recorded meanwhile. */
    reminded(run: RedeliveryRun, at: Date): Promise<void>;
    remove(run: RedeliveryRun): Promise<void>;
  };
  jobs: { find(ref: RedeliveryJobRef): Promise<RedeliveryJob | undefined> };
  rounds: {
    /** @returns the events that the queue did not take */
    send(events: readonly BusEvent[]): Promise<BusEvent[]>;
  };
  organizations: OrganizationStates;
  log: Log;
  now: () => Date;
}

export interface ResumeRedeliveryJobsSettings {
  shards: number;
  /** Seconds without a message after which a job is checked. */
  graceSeconds: number;
}

export interface ResumeResult {
  /** Jobs whose message was resent. */
  sent: number;
  /** Rows removed of jobs that have ended or are gone. */
  removed: number;
  /** Jobs that a worker holds. */
  held: number;
  /** Jobs that could not be read, sent or recorded; the next run retries them. */
  left: number;
  /** Whether every job was checked; otherwise the next run continues. */
  complete: boolean;
}

/** Jobs checked concurrently. */
const CONCURRENCY = 8;
/** Maximum messages per SQS request. */
const BATCH_SIZE = 10;

/**
 * Resends the message of each running job without a worker, then records the time, so that a lost message
 * does not stop a job. A run can end anywhere: the next one finds what was not recorded, and an extra message
 * changes nothing.
 */
export function resumeRedeliveryJobs(
  { runs, jobs, rounds, organizations, log, now }: ResumeRedeliveryJobsPorts,
  { shards, graceSeconds }: ResumeRedeliveryJobsSettings,
) {
  const checkGeneration = createGenerationCheck(organizations);
  const getLogFields = ({ id: redeliveryId, webhookId, orgId }: RedeliveryJobRef) => ({
    redeliveryId,
    webhookId,
    orgId,
  });

  /**
   * @param hasTime whether there is time for another page
   * @throws the first read error, after the rest was processed
   */
  return async (hasTime: () => boolean): Promise<ResumeResult> => {
    const done: ResumeResult = { sent: 0, removed: 0, held: 0, left: 0, complete: true };
    const failures: unknown[] = [];

    /** Leaves a failed job to the next run. */
    async function runForJob<T>(run: RedeliveryRun, work: () => Promise<T>): Promise<T | undefined> {
      try {
        return await work();
      } catch (error) {
        log('REDELIVERY_NOT_LOOKED_AT', { ...getLogFields(run), error });
        done.left += 1;
        return undefined;
      }
    }

    /** @returns the job when it needs a message */
    async function findJobToResume(run: RedeliveryRun): Promise<RedeliveryJob | undefined> {
      const job = (await checkGeneration(run)) === 'over' ? undefined : await jobs.find(run);
      const found = checkRun(job, now());
      if (found === 'over') {
        await runs.remove(run);
        done.removed += 1;
      }
      if (found === 'held') done.held += 1;
      return found === 'unheld' ? job : undefined;
    }

    /** @returns the jobs whose messages were taken */
    async function send(batch: readonly RedeliveryJob[]): Promise<RedeliveryJob[]> {
      const events = batch.map((job) => buildRepeatedRound(job, now()));
      try {
        const refused = new Set((await rounds.send(events)).map(({ id }) => id));
        return batch.filter((_, index) => !refused.has(events[index]?.id ?? ''));
      } catch (error) {
        log('REDELIVERIES_NOT_SENT', { error });
        return [];
      }
    }

    async function handle(entries: readonly RedeliveryRun[]): Promise<[]> {
      const byId = new Map(entries.map((run) => [run.id, run]));
      const found = await mapConcurrently(entries, CONCURRENCY, (run) =>
        runForJob(run, () => findJobToResume(run)),
      );
      const unheld = found.filter((job) => job !== undefined);
      for (let first = 0; first < unheld.length; first += BATCH_SIZE) {
        const batch = unheld.slice(first, first + BATCH_SIZE);
        const sent = await send(batch);
        done.sent += sent.length;
        done.left += batch.length - sent.length;
        await mapConcurrently(sent, CONCURRENCY, async (job) => {
          log('REDELIVERY_RESUMED', {
            ...getLogFields(job),
            round: Math.max(1, job.round),
            traceId: job.traceId,
          });
          const run = byId.get(job.id);
          if (run !== undefined) await runForJob(run, () => runs.reminded(run, now()));
        });
      }
      return [];
    }

    const startedAt = now();
    const until = new Date(startedAt.getTime() - graceSeconds * 1000);
    done.complete = await takeTurns(
      {
        partitions: shards,
        find: (shard, position) => runs.find(shard, until, position),
        getOrganization: ({ orgId }) => orgId,
        handle,
        logUnread: (shard, error) => log('REDELIVERY_SHARD_UNREAD', { shard, error }),
      },
      { now: startedAt, hasTime, log, failures },
    );
    if (failures.length > 0) throw failures[0];
    return done;
  };
}
