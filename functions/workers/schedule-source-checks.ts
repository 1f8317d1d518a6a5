import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import * as z from 'zod/mini';
import {
  type ScheduleResult,
  scheduleSourceChecks,
  sendDueDigests,
} from '../engine/schedule-source-checks.ts';
import { documentClient, queueClient } from '../platform/clients/clients.ts';
import { NonEmptyText, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { SWEPT } from '../platform/metric-names.ts';
import { count, gauge } from '../platform/metrics.ts';
import { invocation } from '../platform/pipeline/worker.ts';
import { workerQueue } from '../platform/queues.ts';
import { reportUnreadable } from '../platform/reports.ts';
import { SOURCE_DUE_SHARDS } from '../store/keys.ts';
import { dueDigests } from '../store/mail-budgets.ts';
import { dueSources } from '../store/sources.ts';

export const ScheduleSourceChecksEnvironment = z.object({
  KNOWLEDGE_TABLE: NonEmptyText,
  CHECKS_QUEUE: NonEmptyText,
  MAILINGS_TABLE: NonEmptyText,
  /** Queue of the mail function; the check queue in deployments without e-mail. */
  NOTIFY_QUEUE: NonEmptyText,
});
export type ScheduleSourceChecksEnvironment = z.input<typeof ScheduleSourceChecksEnvironment>;

const environment = readEnvironment(ScheduleSourceChecksEnvironment);

/** Reserved for the current page. A run reads no further page when less time is left. Milliseconds. */
const PAGE_MS = 10_000;

const client = documentClient();
const common = { log: logger.log, now: () => new Date() };

const run = scheduleSourceChecks(
  {
    due: dueSources({ client, name: environment.KNOWLEDGE_TABLE, reportUnreadable }),
    checks: workerQueue(queueClient(), environment.CHECKS_QUEUE),
    ...common,
  },
  { shards: SOURCE_DUE_SHARDS },
);

/** Digests stay where they are in deployments without e-mail. */
const sendDigests =
  environment.NOTIFY_QUEUE === environment.CHECKS_QUEUE
    ? async () => undefined
    : sendDueDigests({
        due: dueDigests({ client, name: environment.MAILINGS_TABLE, reportUnreadable }),
        mails: workerQueue(queueClient(), environment.NOTIFY_QUEUE),
        ...common,
      });

export const handler = middy<unknown, ScheduleResult>()
  .use(invocation())
  .handler(async (_event: unknown, context: Context) => {
    const hasTime = () => context.getRemainingTimeInMillis() > PAGE_MS;
    const [scheduled, digests] = await Promise.allSettled([run(hasTime), sendDigests(hasTime)]);
    if (scheduled.status === 'rejected') throw scheduled.reason;
    const done = scheduled.value;
    count(SWEPT.sent, done.sent);
    gauge(SWEPT.latestSeconds, done.latestSeconds, 'Seconds');
    logger.log(done.sent + done.left > 0 ? 'SOURCES_SWEPT' : 'NO_SOURCE_DUE', done);
    if (digests.status === 'rejected') throw digests.reason;
    return done;
  });
