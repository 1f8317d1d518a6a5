import * as z from 'zod/mini';
import { openTables, queueClient } from '../aws/clients.ts';
import { DecimalNumber, NonEmptyText, readEnvironment } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { BACKLOG_AGE, count, gauge, IN_FLIGHT, RECONCILED } from '../aws/metrics.ts';
import { dueIndex } from '../delivery/due-index.ts';
import { DeliveryQueues, IN_FLIGHT_LIMIT, LANE_TABLE, LANES } from '../delivery/lanes.ts';
import { deliveryQueues, queueUrls } from '../delivery/queues.ts';
import { reconcileDeliveries } from '../delivery/reconcile.ts';
import { scheduledWorker } from '../events/worker.ts';

export const ReconcileEnvironment = z.object({
  DELIVERIES_TABLE: NonEmptyText,
  ...DeliveryQueues,
  GRACE_SECONDS: DecimalNumber,
});

const environment = readEnvironment(ReconcileEnvironment);
const now = () => new Date();
const queues = deliveryQueues(queueClient(), queueUrls(LANE_TABLE, environment), now);

const run = reconcileDeliveries(
  { due: dueIndex(openTables(environment).deliveries), queues, log: logger.log, now },
  { graceSeconds: environment.GRACE_SECONDS },
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
  const handled = done.resumed + done.resent + done.deferred + done.expired + done.refused;
  if (handled > 0) logger.log('DELIVERIES_RECONCILED', done);
  await measureQueues();
  return done;
});
