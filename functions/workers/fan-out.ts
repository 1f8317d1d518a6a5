import * as z from 'zod/mini';
import { openTables, queueClient } from '../aws/clients.ts';
import { NonEmptyText, readEnvironment } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { fanOut } from '../delivery/fan-out.ts';
import { FIRST_LANES, FirstAttemptQueues } from '../delivery/lanes.ts';
import { WORK } from '../delivery/outbox.ts';
import { failedEntries, outboxReader } from '../delivery/outbox-readers.ts';
import { deliveryQueues, queueUrls } from '../delivery/queues.ts';
import { deliveryStore } from '../delivery/rows.ts';
import { endpointStore } from '../receivers/endpoints.ts';
import { organizationStates, readOrganizationState } from '../tenancy/organizations.ts';

export const FanOutEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  DELIVERIES_TABLE: NonEmptyText,
  ...FirstAttemptQueues,
  /** Takes entries that fail. */
  DEAD_FAN_OUTS: NonEmptyText,
});

const environment = readEnvironment(FanOutEnvironment);
const { service, deliveries } = openTables(environment);
const sqs = queueClient();
const now = () => new Date();

const run = fanOut({
  subscribers: endpointStore(service),
  organizations: organizationStates(readOrganizationState(service)),
  deliveries: deliveryStore(deliveries),
  queues: deliveryQueues(sqs, queueUrls(FIRST_LANES, environment), now),
  log: logger.log,
  now,
});

/** Processes inserts of the outbox's stream. */
export const handler = outboxReader(WORK, run, failedEntries(sqs, environment.DEAD_FAN_OUTS, WORK));
