import * as z from 'zod/mini';
import { openTables, queueClient } from '../aws/clients.ts';
import { NonEmptyText, readEnvironment } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { count, gauge, SWEPT } from '../aws/metrics.ts';
import { workerQueue } from '../delivery/queues.ts';
import { scheduledWorker } from '../events/worker.ts';
import { scheduleSourceChecks } from '../knowledge/schedule-source-checks.ts';
import { dueSources } from '../knowledge/sources.ts';

export const ScheduleSourceChecksEnvironment = z.object({
  KNOWLEDGE_TABLE: NonEmptyText,
  CHECKS_QUEUE: NonEmptyText,
});

const environment = readEnvironment(ScheduleSourceChecksEnvironment);

const run = scheduleSourceChecks({
  due: dueSources(openTables(environment).knowledge),
  checks: workerQueue(queueClient(), environment.CHECKS_QUEUE),
  log: logger.log,
  now: () => new Date(),
});

export const handler = scheduledWorker(async (hasTime) => {
  const done = await run(hasTime);
  count(SWEPT.sent, done.sent);
  gauge(SWEPT.latestSeconds, done.latestSeconds, 'Seconds');
  if (done.sent + done.left > 0) logger.log('SOURCES_SWEPT', done);
  return done;
});
