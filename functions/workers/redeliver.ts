import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { openTables, queueClient } from '../aws/clients.ts';
import { NonEmptyText, readEnvironment, WholeNumber } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { committer } from '../aws/transaction.ts';
import { JOB_LANES, JobQueues } from '../delivery/lanes.ts';
import { deliveryQueues, queueUrls, setVisibility, workerQueue } from '../delivery/queues.ts';
import { deliveryStore } from '../delivery/rows.ts';
import { REDELIVER_LEASE_SECONDS, REDELIVER_ROUND_SECONDS } from '../delivery/timing.ts';
import { busWorker, processEach } from '../events/worker.ts';
import { endpointStore } from '../receivers/endpoints.ts';
import { redeliveryRounds } from '../redelivery/jobs.ts';
import { runRedeliveryJob } from '../redelivery/redeliver.ts';
import { organizationStates, readOrganizationState } from '../tenancy/organizations.ts';

export const RedeliverEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  DELIVERIES_TABLE: NonEmptyText,
  OUTBOX_TABLE: NonEmptyText,
  ...JobQueues,
  /** The worker's own queue, for the next round of a job. */
  REDELIVERIES_QUEUE: NonEmptyText,
  /** Most deliveries of a job that wait for their first attempt at a time. */
  REDELIVERY_GROUP: WholeNumber,
});

const environment = readEnvironment(RedeliverEnvironment);
const queues = queueClient();
const tables = openTables(environment);
const { service, deliveries } = tables;
const now = () => new Date();

/** Two batch reads of states. A page ends when its last delivery has been attempted: not too small. */
const PAGE_SIZE = 200;

const handle = runRedeliveryJob(
  {
    tables,
    jobs: redeliveryRounds(tables, committer(service.client)),
    deliveries: deliveryStore(deliveries),
    endpoints: endpointStore(service),
    queues: deliveryQueues(queues, queueUrls(JOB_LANES, environment), now),
    rounds: workerQueue(queues, environment.REDELIVERIES_QUEUE),
    organizations: organizationStates(readOrganizationState(service)),
    log: logger.log,
    now,
    wait: (seconds) => setTimeout(seconds * 1000),
  },
  {
    leaseSeconds: REDELIVER_LEASE_SECONDS,
    roundSeconds: REDELIVER_ROUND_SECONDS,
    pageSize: PAGE_SIZE,
    window: environment.REDELIVERY_GROUP,
  },
);

/** Runs rounds of redelivery jobs. */
export const handler = busWorker(
  'redeliver',
  processEach(handle, logger.log),
  setVisibility(queues, environment.REDELIVERIES_QUEUE),
);
