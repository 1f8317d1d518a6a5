import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { type Swept, sweep } from '../engine/sweep.ts';
import { documentClient } from '../platform/clients/dynamodb.ts';
import { queueClient } from '../platform/clients/sqs.ts';
import { readEnvironment, SweepEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { SWEPT } from '../platform/metric-names.ts';
import { count, gauge } from '../platform/metrics.ts';
import { invocation } from '../platform/pipeline/worker.ts';
import { workerQueue } from '../platform/worker-queue.ts';
import { dueSources } from '../store/due-sources.ts';
import { SOURCE_DUE_SHARDS } from '../store/keys.ts';

const environment = readEnvironment(SweepEnvironment);

/** Time that the page under way needs when the run's time is up. */
const PAGE_MS = 10_000;

const run = sweep(
  {
    due: dueSources({ client: documentClient(), name: environment.KNOWLEDGE_TABLE }),
    checks: workerQueue(queueClient(), environment.CHECKS_QUEUE),
    log: logger.log,
    now: () => new Date(),
  },
  { shards: SOURCE_DUE_SHARDS },
);

/** Invoked by a schedule. */
export const handler = middy<unknown, Swept>()
  .use(invocation())
  .handler(async (_event: unknown, context: Context) => {
    const done = await run(() => context.getRemainingTimeInMillis() > PAGE_MS);
    count(SWEPT.sent, done.sent);
    gauge(SWEPT.latestSeconds, done.latestSeconds, 'Seconds');
    logger.log(done.sent + done.left > 0 ? 'SOURCES_SWEPT' : 'NO_SOURCE_DUE', done);
    return done;
  });
