import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import * as z from 'zod/mini';
import { type ResumeResult, resumeRedeliveryJobs } from '../engine/resume-redelivery-jobs.ts';
import { documentClient, queueClient } from '../platform/clients/clients.ts';
import { DecimalNumber, NonEmptyText, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { REDELIVERIES_RESUMED } from '../platform/metric-names.ts';
import { count } from '../platform/metrics.ts';
import { organizationStates } from '../platform/organization-states.ts';
import { invocation } from '../platform/pipeline/worker.ts';
import { workerQueue } from '../platform/queues.ts';
import { reportUnreadable } from '../platform/reports.ts';
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
const service = { client: documentClient(), name: environment.SERVICE_TABLE, reportUnreadable };
const jobs = redeliveryJobs(service);

/** Reserved for the current page. A run reads no further page when less time is left. Milliseconds. */
const PAGE_MS = 10_000;

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

export const handler = middy<unknown, ResumeResult>()
  .use(invocation())
  .handler(async (_event: unknown, context: Context) => {
    const done = await run(() => context.getRemainingTimeInMillis() > PAGE_MS);
    count(REDELIVERIES_RESUMED, done.sent);
    const { sent, removed, held, left } = done;
    logger.log(
      sent + removed + held + left > 0 ? 'REDELIVERIES_LOOKED_AT' : 'NO_REDELIVERY_TO_LOOK_AT',
      done,
    );
    return done;
  });
