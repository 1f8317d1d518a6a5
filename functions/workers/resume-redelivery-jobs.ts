import * as z from 'zod/mini';
import { openTables, queueClient } from '../aws/clients.ts';
import { DecimalNumber, NonEmptyText, readEnvironment } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { count, REDELIVERIES_RESUMED } from '../aws/metrics.ts';
import { workerQueue } from '../delivery/queues.ts';
import { scheduledWorker } from '../events/worker.ts';
import { redeliveryJobs } from '../redelivery/jobs.ts';
import { resumeRedeliveryJobs } from '../redelivery/redeliver.ts';
import { organizationStates, readOrganizationState } from '../tenancy/organizations.ts';

export const ResumeRedeliveryJobsEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  REDELIVERIES_QUEUE: NonEmptyText,
  GRACE_SECONDS: DecimalNumber,
});

const environment = readEnvironment(ResumeRedeliveryJobsEnvironment);
const { service } = openTables(environment);

const run = resumeRedeliveryJobs(
  {
    jobs: redeliveryJobs(service),
    rounds: workerQueue(queueClient(), environment.REDELIVERIES_QUEUE),
    organizations: organizationStates(readOrganizationState(service)),
    log: logger.log,
    now: () => new Date(),
  },
  { graceSeconds: environment.GRACE_SECONDS },
);

export const handler = scheduledWorker(async (hasTime) => {
  const done = await run(hasTime);
  count(REDELIVERIES_RESUMED, done.sent);
  const { sent, removed, held, left } = done;
  if (sent + removed + held + left > 0) logger.log('REDELIVERIES_LOOKED_AT', done);
  return done;
});
