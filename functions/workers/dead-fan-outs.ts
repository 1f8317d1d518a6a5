import * as z from 'zod/mini';
import { FIRST_LANES } from '../domain/lanes.ts';
import { deadEntries, nameOfOwed } from '../engine/dead-letters.ts';
import { fanOut } from '../engine/fan-out.ts';
import { documentClient, queueClient, streamsClient } from '../platform/clients/clients.ts';
import { FirstAttemptQueues, NonEmptyText, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { deadLetterWorker, orAbandon } from '../platform/pipeline/worker.ts';
import { deliveryQueues, postponement, queueUrls } from '../platform/queues.ts';
import { reportUnreadable } from '../platform/reports.ts';
import { standings } from '../platform/standings.ts';
import { deliveryStore } from '../store/deliveries.ts';
import { endpointStore } from '../store/endpoints.ts';
import { standingOf } from '../store/organizations.ts';
import { outboxEntries, owedBy } from '../store/outbox.ts';

export const DeadFanOutsEnvironment = z.object({
  SERVICE_TABLE: NonEmptyText,
  DELIVERIES_TABLE: NonEmptyText,
  ...FirstAttemptQueues,
  OUTBOX_TABLE: NonEmptyText,
  /** The queue that it takes them from, and leaves them in for later. */
  DEAD_FAN_OUTS: NonEmptyText,
});
export type DeadFanOutsEnvironment = z.input<typeof DeadFanOutsEnvironment>;

const environment = readEnvironment(DeadFanOutsEnvironment);
const client = documentClient();
const service = { client, name: environment.SERVICE_TABLE, reportUnreadable };
const sqs = queueClient();
const outbox = { client, name: environment.OUTBOX_TABLE, reportUnreadable };
const now = () => new Date();

/** Takes the dead letters of the fan-out's stream. */
export const handler = deadLetterWorker(
  deadEntries({
    ...outboxEntries(outbox, streamsClient(), orAbandon(owedBy)),
    deal: fanOut({
      subscribers: endpointStore(service),
      standings: standings(standingOf(service)),
      deliveries: deliveryStore({ client, name: environment.DELIVERIES_TABLE, reportUnreadable }),
      queues: deliveryQueues(sqs, queueUrls(FIRST_LANES, environment), now),
      log: logger.log,
      now,
    }),
    postpone: postponement(sqs, environment.DEAD_FAN_OUTS),
    nameOf: nameOfOwed,
    log: logger.log,
    now,
  }),
);
