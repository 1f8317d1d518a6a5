import * as z from 'zod/mini';
import { parseRow } from '../aws/table.ts';
import { FIRST_LANES } from '../domain/lanes.ts';
import { fanOut } from '../engine/fan-out.ts';
import { queueClient } from '../platform/clients/clients.ts';
import { FirstAttemptQueues, NonEmptyText, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { organizationStates } from '../platform/organization-states.ts';
import { outboxReader } from '../platform/pipeline/worker.ts';
import { deliveryQueues, failedEntries, queueUrls } from '../platform/queues.ts';
import { openTables } from '../platform/tables.ts';
import { deliveryStore } from '../store/deliveries.ts';
import { endpointStore } from '../store/endpoints.ts';
import { readOrganizationState } from '../store/organizations.ts';
import { parseOutboxRecord, WORK } from '../store/outbox.ts';

export const FanOutEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  DELIVERIES_TABLE: NonEmptyText,
  ...FirstAttemptQueues,
  /** Takes entries that fail. */
  DEAD_FAN_OUTS: NonEmptyText,
});
export type FanOutEnvironment = z.input<typeof FanOutEnvironment>;

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
export const handler = outboxReader(
  (image) => parseOutboxRecord(parseRow(image)),
  run,
  failedEntries(sqs, environment.DEAD_FAN_OUTS, WORK),
);
