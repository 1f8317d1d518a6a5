import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { type Swept, sweep } from '../engine/sweep.ts';
import { checkQueue } from '../platform/check-queue.ts';
import { documentClient } from '../platform/clients/dynamodb.ts';
import { queueClient } from '../platform/clients/sqs.ts';
import { readEnvironment, SweepEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { SWEPT } from '../platform/metric-names.ts';
import { gauge } from '../platform/metrics.ts';
import { logContext } from '../platform/pipeline/worker.ts';
import { dueSources } from '../store/due-sources.ts';
import { SOURCE_DUE_SHARDS } from '../store/keys.ts';

const environment = readEnvironment(SweepEnvironment);

/** Time that the page under way needs when the run's time is up. */
const PAGE_MS = 10_000;

const run = sweep(
  {
    due: dueSources({ client: documentClient(), name: environment.KNOWLEDGE_TABLE }),
    checks: checkQueue(queueClient(), environment.CHECKS_QUEUE),
    log: logger,
    now: () => new Date(),
  },
  { shards: SOURCE_DUE_SHARDS },
);

/** Invoked by a schedule. */
export const handler = middy<unknown, Swept>()
  .use(logContext(logger))
  .handler(async (_event: unknown, context: Context) => {
    const done = await run(() => context.getRemainingTimeInMillis() > PAGE_MS);
    gauge(SWEPT.sent, done.sent);
    gauge(SWEPT.latestSeconds, Math.max(0, done.latestSeconds), 'Seconds');
    logger[done.sent + done.left > 0 ? 'info' : 'debug']('sources are due', { ...done });
    return done;
  });
