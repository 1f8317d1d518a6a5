import { mapConcurrently } from '../aws/concurrency.ts';
import type { Log } from '../aws/log-codes.ts';
import type { Row } from '../aws/table.ts';
import type { WorkerQueue } from '../delivery/queues.ts';
import { REDELIVERY_RUN_SHARDS } from '../tenancy/keys.ts';
import { createGenerationCheck, type OrganizationStates } from '../tenancy/organizations.ts';
import { sendMessages, sweep, takeTurns, updateEntries } from '../tenancy/sweep.ts';
import {
  buildRound,
  checkRun,
  type RedeliveryJob,
  type RedeliveryJobRef,
  type RedeliveryRun,
} from './job.ts';
import type { redeliveryJobs, redeliveryRuns } from './jobs.ts';

export interface ResumeRedeliveryJobsPorts {
  runs: ReturnType<typeof redeliveryRuns>;
  jobs: Pick<ReturnType<typeof redeliveryJobs>, 'find'>;
  rounds: WorkerQueue;
  organizations: OrganizationStates;
  log: Log;
  now: () => Date;
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

/**
 * Resends the message of each running job without a worker, then records the time, so that a lost message
 * does not stop a job.
 * @param graceSeconds seconds without a message after which a job is checked
 */
export function resumeRedeliveryJobs(
  { runs, jobs, rounds, organizations, log, now }: ResumeRedeliveryJobsPorts,
  { graceSeconds }: { graceSeconds: number },
) {
  const checkGeneration = createGenerationCheck(organizations);
  const getLogFields = ({ id: redeliveryId, webhookId, orgId }: RedeliveryJobRef) => ({
    redeliveryId,
    webhookId,
    orgId,
  });

  /** @throws as `sweep` */
  return async (hasTime: () => boolean): Promise<ResumeResult> => {
    const done: ResumeResult = { sent: 0, removed: 0, held: 0, left: 0, complete: true };

    function logLeft(run: RedeliveryRun, error: unknown): void {
      log('REDELIVERY_NOT_LOOKED_AT', { ...getLogFields(run), error });
      done.left += 1;
    }

    /** @returns the run with its job when it needs a message */
    async function findUnheld(run: RedeliveryRun): Promise<{ run: RedeliveryRun; job: RedeliveryJob }[]> {
      try {
        const isOver = (await checkGeneration(run)) === 'over';
        const job = isOver ? undefined : await jobs.find(run, run.webhookId, run.id);
        const state = checkRun(job, now());
        if (job !== undefined && state === 'unheld') return [{ run, job }];
        if (state === 'held') done.held += 1;
        if (state !== 'over') return [];
        await runs.remove(run);
        done.removed += 1;
      } catch (error) {
        logLeft(run, error);
      }
      return [];
    }

    async function handle(entries: readonly RedeliveryRun[]): Promise<[]> {
      const unheld = (await mapConcurrently(entries, CONCURRENCY, findUnheld)).flat();
      const sent = await sendMessages(
        unheld,
        ({ job }) => buildRound(job, Math.max(1, job.round), now()),
        rounds.send,
        (error) => log('REDELIVERIES_NOT_SENT', { error }),
      );
      done.sent += sent.length;
      done.left += unheld.length - sent.length;
      for (const { job } of sent)
        log('REDELIVERY_RESUMED', {
          ...getLogFields(job),
          round: Math.max(1, job.round),
          traceId: job.traceId,
        });
      await updateEntries(
        sent,
        ({ run }) => runs.reminded(run, now()),
        ({ run }, error) => logLeft(run, error),
      );
      return [];
    }

    const startedAt = now();
    const until = new Date(startedAt.getTime() - graceSeconds * 1000);
    const takeJobs = takeTurns({
      partitions: REDELIVERY_RUN_SHARDS,
      find: (shard, position?: Row) => runs.find(shard, until, position),
      getOrganization: ({ orgId }) => orgId,
      handle,
      logUnread: (shard, error) => log('REDELIVERY_SHARD_UNREAD', { shard, error }),
    });
    done.complete = await sweep([takeJobs], { now: startedAt, hasTime, log });
    return done;
  };
}
