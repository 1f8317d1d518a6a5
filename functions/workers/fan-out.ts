import * as z from 'zod/mini';
import { parseRow } from '../aws/table.ts';
import { FIRST_LANES } from '../domain/lanes.ts';
import { fanOut } from '../engine/fan-out.ts';
import { queueClient, tableClient } from '../platform/clients/clients.ts';
import { FirstAttemptQueues, NonEmptyText, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { organizationStates } from '../platform/organization-states.ts';
import { outboxReader } from '../platform/pipeline/worker.ts';
import { deliveryQueues, failedEntries, queueUrls } from '../platform/queues.ts';
import { reportUnreadable } from '../platform/reports.ts';
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
const client = tableClient();
const service = { client, name: environment.SERVICE_TABLE, reportUnreadable };
const sqs = queueClient();
const now = () => new Date();

const run = fanOut({
  subscribers: endpointStore(service),
  organizations: organizationStates(readOrganizationState(service)),
  deliveries: deliveryStore({ client, name: environment.DELIVERIES_TABLE, reportUnreadable }),
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
