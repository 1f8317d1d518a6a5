import * as z from 'zod/mini';
import { scheduleSourceChecks } from '../engine/schedule-source-checks.ts';
import { queueClient } from '../platform/clients/clients.ts';
import { NonEmptyText, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { SWEPT } from '../platform/metric-names.ts';
import { count, gauge } from '../platform/metrics.ts';
import { scheduledWorker } from '../platform/pipeline/worker.ts';
import { workerQueue } from '../platform/queues.ts';
import { openTables } from '../platform/tables.ts';
import { SOURCE_DUE_SHARDS } from '../store/keys.ts';
import { dueSources } from '../store/sources.ts';

export const ScheduleSourceChecksEnvironment = z.object({
  KNOWLEDGE_TABLE: NonEmptyText,
  CHECKS_QUEUE: NonEmptyText,
});
export type ScheduleSourceChecksEnvironment = z.input<typeof ScheduleSourceChecksEnvironment>;

const environment = readEnvironment(ScheduleSourceChecksEnvironment);

const run = scheduleSourceChecks(
  {
    due: dueSources(openTables(environment).knowledge),
    checks: workerQueue(queueClient(), environment.CHECKS_QUEUE),
    log: logger.log,
    now: () => new Date(),
  },
  { shards: SOURCE_DUE_SHARDS },
);

export const handler = scheduledWorker(async (hasTime) => {
  const done = await run(hasTime);
  count(SWEPT.sent, done.sent);
  gauge(SWEPT.latestSeconds, done.latestSeconds, 'Seconds');
  if (done.sent + done.left > 0) logger.log('SOURCES_SWEPT', done);
  return done;
});
