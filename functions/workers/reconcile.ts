import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { RECONCILE_LOOKAHEAD_SECONDS } from '../domain/timing.ts';
import { type Reconciled, reconcile } from '../engine/reconcile.ts';
import { documentClient } from '../platform/clients/dynamodb.ts';
import { queueClient } from '../platform/clients/sqs.ts';
import { ReconcileEnvironment, readEnvironment } from '../platform/config.ts';
import { deliveryQueues } from '../platform/delivery-queues.ts';
import { logger } from '../platform/logger.ts';
import { RECONCILED } from '../platform/metric-names.ts';
import { gauge } from '../platform/metrics.ts';
import { logContext } from '../platform/pipeline/worker.ts';
import { dueIndex } from '../store/due-index.ts';
import { DUE_SHARDS } from '../store/keys.ts';

const environment = readEnvironment(ReconcileEnvironment);
const now = () => new Date();

/** Time that the page under way needs when the run's time is up. */
const PAGE_MS = 10_000;

const run = reconcile(
  {
    due: dueIndex({ client: documentClient(), name: environment.DELIVERIES_TABLE }),
    queues: deliveryQueues(queueClient(), { retry: environment.RETRY_QUEUE }, now),
    log: logger,
    now,
  },
  {
    shards: DUE_SHARDS,
    graceSeconds: environment.GRACE_SECONDS,
    lookaheadSeconds: RECONCILE_LOOKAHEAD_SECONDS,
  },
);

/** Invoked by a schedule. */
export const handler = middy<unknown, Reconciled>()
  .use(logContext(logger))
  .handler(async (_event: unknown, context: Context) => {
    const done = await run(() => context.getRemainingTimeInMillis() > PAGE_MS);
    gauge(RECONCILED.resumed, done.resumed);
    gauge(RECONCILED.resent, done.resent);
    gauge(RECONCILED.deferred, done.deferred);
    gauge(RECONCILED.expired, done.expired);
    gauge(RECONCILED.latestSeconds, Math.max(0, done.latestSeconds), 'Seconds');
    const level =
      done.resumed + done.resent + done.deferred + done.expired + done.refused > 0 ? 'info' : 'debug';
    logger[level]('deliveries were reconciled', { ...done });
    return done;
  });
