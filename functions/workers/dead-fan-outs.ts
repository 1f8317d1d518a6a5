import * as z from 'zod/mini';
import { FIRST_LANES } from '../domain/lanes.ts';
import { getOutboxWorkName, processDeadEntries } from '../engine/dead-letters.ts';
import { fanOut } from '../engine/fan-out.ts';
import { queueClient, streamsClient } from '../platform/clients/clients.ts';
import { FirstAttemptQueues, NonEmptyText, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { organizationStates } from '../platform/organization-states.ts';
import { deadLetterWorker, parseOrAbandon } from '../platform/pipeline/worker.ts';
import { deliveryQueues, failedEntries, queueUrls, setVisibility } from '../platform/queues.ts';
import { openTables } from '../platform/tables.ts';
import { deliveryStore } from '../store/deliveries.ts';
import { endpointStore } from '../store/endpoints.ts';
import { readOrganizationState } from '../store/organizations.ts';
import { outboxEntries, parseOutboxRecord, WORK } from '../store/outbox.ts';

export const DeadFanOutsEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  DELIVERIES_TABLE: NonEmptyText,
  ...FirstAttemptQueues,
  OUTBOX_TABLE: NonEmptyText,
  /** The worker's own queue, to which it also sends entries. */
  DEAD_FAN_OUTS: NonEmptyText,
});
export type DeadFanOutsEnvironment = z.input<typeof DeadFanOutsEnvironment>;

const environment = readEnvironment(DeadFanOutsEnvironment);
const { service, outbox, deliveries } = openTables(environment);
const sqs = queueClient();
const now = () => new Date();

/** Processes the dead letters of the fan-out's stream. */
export const handler = deadLetterWorker(
  processDeadEntries({
    ...outboxEntries(outbox, streamsClient(), parseOrAbandon(parseOutboxRecord)),
    process: fanOut({
      subscribers: endpointStore(service),
      organizations: organizationStates(readOrganizationState(service)),
      deliveries: deliveryStore(deliveries),
      queues: deliveryQueues(sqs, queueUrls(FIRST_LANES, environment), now),
      log: logger.log,
      now,
    }),
    handOver: failedEntries(sqs, environment.DEAD_FAN_OUTS, WORK).send,
    getName: getOutboxWorkName,
    log: logger.log,
    now,
  }),
  setVisibility(sqs, environment.DEAD_FAN_OUTS),
);
