import * as z from 'zod/mini';
import { FIRST_LANES } from '../domain/lanes.ts';
import { deadEntries, nameOfOwed } from '../engine/dead-letters.ts';
import { fanOut } from '../engine/fan-out.ts';
import { documentClient } from '../platform/clients/dynamodb.ts';
import { streamsClient } from '../platform/clients/dynamodb-streams.ts';
import { queueClient } from '../platform/clients/sqs.ts';
import { FirstAttemptQueues, NonEmptyText, readEnvironment } from '../platform/config.ts';
import { deliveryQueues, queueUrls } from '../platform/delivery-queues.ts';
import { logger } from '../platform/logger.ts';
import { deadLetterWorker, orAbandon } from '../platform/pipeline/dead-letters.ts';
import { reportUnreadable } from '../platform/reports.ts';
import { standings } from '../platform/standings.ts';
import { postponement } from '../platform/worker-queue.ts';
import { deliveryStore } from '../store/deliveries.ts';
import { endpointStore } from '../store/endpoints.ts';
import { standingOf } from '../store/organizations.ts';
import { owedBy } from '../store/outbox.ts';
import { outboxEntries } from '../store/stream.ts';

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
