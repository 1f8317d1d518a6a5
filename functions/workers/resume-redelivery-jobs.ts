import * as z from 'zod/mini';
import { resumeRedeliveryJobs } from '../engine/resume-redelivery-jobs.ts';
import { queueClient } from '../platform/clients/clients.ts';
import { DecimalNumber, NonEmptyText, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { REDELIVERIES_RESUMED } from '../platform/metric-names.ts';
import { count } from '../platform/metrics.ts';
import { organizationStates } from '../platform/organization-states.ts';
import { scheduledWorker } from '../platform/pipeline/worker.ts';
import { workerQueue } from '../platform/queues.ts';
import { openTables } from '../platform/tables.ts';
import { REDELIVERY_RUN_SHARDS } from '../store/keys.ts';
import { readOrganizationState } from '../store/organizations.ts';
import { redeliveryJobs, redeliveryRuns } from '../store/redelivery-jobs.ts';

export const ResumeRedeliveryJobsEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  REDELIVERIES_QUEUE: NonEmptyText,
  GRACE_SECONDS: DecimalNumber,
});
export type ResumeRedeliveryJobsEnvironment = z.input<typeof ResumeRedeliveryJobsEnvironment>;

const environment = readEnvironment(ResumeRedeliveryJobsEnvironment);
const { service } = openTables(environment);
const jobs = redeliveryJobs(service);

const run = resumeRedeliveryJobs(
  {
    runs: redeliveryRuns(service),
    jobs: { find: (job) => jobs.find(job, job.webhookId, job.id) },
    rounds: workerQueue(queueClient(), environment.REDELIVERIES_QUEUE),
    organizations: organizationStates(readOrganizationState(service)),
    log: logger.log,
    now: () => new Date(),
  },
  { shards: REDELIVERY_RUN_SHARDS, graceSeconds: environment.GRACE_SECONDS },
);

export const handler = scheduledWorker(async (hasTime) => {
  const done = await run(hasTime);
  count(REDELIVERIES_RESUMED, done.sent);
  const { sent, removed, held, left } = done;
  if (sent + removed + held + left > 0) logger.log('REDELIVERIES_LOOKED_AT', done);
  return done;
});
