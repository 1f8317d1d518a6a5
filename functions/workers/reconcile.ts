import * as z from 'zod/mini';
import { LONG_BACKLOG } from '../domain/due.ts';
import { IN_FLIGHT_LIMIT, LANE_TABLE, LANES } from '../domain/lanes.ts';
import { RECONCILE_LOOKAHEAD_SECONDS } from '../domain/timing.ts';
import { reconcileDeliveries } from '../engine/reconcile.ts';
import { queueClient } from '../platform/clients/clients.ts';
import { DecimalNumber, DeliveryQueues, NonEmptyText, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { BACKLOG_AGE, IN_FLIGHT, RECONCILED } from '../platform/metric-names.ts';
import { count, gauge } from '../platform/metrics.ts';
import { scheduledWorker } from '../platform/pipeline/worker.ts';
import { deliveryQueues, queueUrls } from '../platform/queues.ts';
import { openTables } from '../platform/tables.ts';
import { dueIndex } from '../store/due-index.ts';
import { DUE_SHARDS } from '../store/keys.ts';

export const ReconcileEnvironment = z.object({
  DELIVERIES_TABLE: NonEmptyText,
  ...DeliveryQueues,
  GRACE_SECONDS: DecimalNumber,
});
export type ReconcileEnvironment = z.input<typeof ReconcileEnvironment>;

const environment = readEnvironment(ReconcileEnvironment);
const now = () => new Date();
const queues = deliveryQueues(queueClient(), queueUrls(LANE_TABLE, environment), now);

const run = reconcileDeliveries(
  {
    due: dueIndex(openTables(environment).deliveries),
    queues,
    log: logger.log,
    now,
  },
  {
    shards: DUE_SHARDS,
    graceSeconds: environment.GRACE_SECONDS,
    lookaheadSeconds: RECONCILE_LOOKAHEAD_SECONDS,
    longBacklog: LONG_BACKLOG,
  },
);

/** Measures the fullest queue. A queue that cannot be read does not stop the run. */
async function measureQueues(): Promise<void> {
  try {
    const inFlight = await Promise.all(LANES.map((lane) => queues.inFlight(lane)));
    gauge(IN_FLIGHT, (Math.max(...inFlight) / IN_FLIGHT_LIMIT) * 100, 'Percent');
  } catch (error) {
    logger.log('QUEUES_NOT_MEASURED', { error });
  }
}

export const handler = scheduledWorker(async (hasTime) => {
  const done = await run(hasTime);
  count(RECONCILED.resumed, done.resumed);
  count(RECONCILED.resent, done.resent);
  count(RECONCILED.deferred, done.deferred);
  count(RECONCILED.expired, done.expired);
  gauge(RECONCILED.latestSeconds, done.latestSeconds, 'Seconds');
  gauge(BACKLOG_AGE, done.oldestSeconds, 'Seconds');
  const found = done.resumed + done.resent + done.deferred + done.expired + done.refused;
  if (found > 0) logger.log('DELIVERIES_RECONCILED', done);
  await measureQueues();
  return done;
});
