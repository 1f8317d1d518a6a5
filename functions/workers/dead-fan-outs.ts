import * as z from 'zod/mini';
import { openTables, queueClient } from '../aws/clients.ts';
import { NonEmptyText, readEnvironment } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { fanOut } from '../delivery/fan-out.ts';
import { FIRST_LANES, FirstAttemptQueues } from '../delivery/lanes.ts';
import { WORK } from '../delivery/outbox.ts';
import { deadLetterWorker } from '../delivery/outbox-readers.ts';
import { deliveryQueues, queueUrls } from '../delivery/queues.ts';
import { deliveryStore } from '../delivery/rows.ts';
import { endpointStore } from '../receivers/endpoints.ts';
import { organizationStates, readOrganizationState } from '../tenancy/organizations.ts';

export const DeadFanOutsEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  DELIVERIES_TABLE: NonEmptyText,
  ...FirstAttemptQueues,
  OUTBOX_TABLE: NonEmptyText,
  /** The worker's own queue, to which it also sends entries. */
  DEAD_FAN_OUTS: NonEmptyText,
});

const environment = readEnvironment(DeadFanOutsEnvironment);
const { service, outbox, deliveries } = openTables(environment);
const now = () => new Date();

/** Processes the dead letters of the fan-out's stream. */
export const handler = deadLetterWorker(WORK, {
  outbox,
  url: environment.DEAD_FAN_OUTS,
  handle: fanOut({
    subscribers: endpointStore(service),
    organizations: organizationStates(readOrganizationState(service)),
    deliveries: deliveryStore(deliveries),
    queues: deliveryQueues(queueClient(), queueUrls(FIRST_LANES, environment), now),
    log: logger.log,
    now,
  }),
});
