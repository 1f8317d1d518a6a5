import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { openTables, queueClient } from '../aws/clients.ts';
import { NonEmptyText, readEnvironment, WholeNumber } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { committer } from '../aws/transaction.ts';
import { deliveryStore } from '../delivery/deliveries.ts';
import { deliveryRanges } from '../delivery/delivery-queries.ts';
import { JOB_LANES, JobQueues } from '../delivery/lanes.ts';
import { deliveryQueues, queueUrls, workerQueue } from '../delivery/queues.ts';
import { arrivalStore, redeliveryMarks } from '../delivery/redelivery-records.ts';
import { REDELIVER_LEASE_SECONDS, REDELIVER_ROUND_SECONDS } from '../delivery/timing.ts';
import { eventRanges } from '../events/event-log.ts';
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
export type RedeliverEnvironment = z.input<typeof RedeliverEnvironment>;

const environment = readEnvironment(RedeliverEnvironment);
const queues = queueClient();
const { service, outbox, deliveries } = openTables(environment);
const now = () => new Date();

/** Rows per shard, of eight shards. */
const PAGE_ROWS = 25;
/** Events per read of a job that only counts. */
const PAGE_EVENTS = 100;
/** Resends per round, so that jobs take turns. */
const ROUND_DELIVERIES = 100;

const handle = runRedeliveryJob(
  {
    jobs: redeliveryRounds(service, committer(service.client)),
    deliveries: { ...deliveryStore(deliveries), range: deliveryRanges(deliveries) },
    events: { range: eventRanges(outbox) },
    arrivals: arrivalStore(service),
    marks: redeliveryMarks(service),
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
    roundDeliveries: ROUND_DELIVERIES,
    pageRows: PAGE_ROWS,
    pageEvents: PAGE_EVENTS,
    mostAtOnce: environment.REDELIVERY_GROUP,
  },
);

/** Runs rounds of redelivery jobs. */
export const handler = busWorker('redeliver', processEach(handle, logger.log));
