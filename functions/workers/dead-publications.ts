import * as z from 'zod/mini';
import { openTables, queueClient, streamsClient } from '../aws/clients.ts';
import { NonEmptyText, readEnvironment } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { processDeadEntries } from '../delivery/dead-letters.ts';
import { outboxEntries, PUBLICATION, parseBusEvent } from '../delivery/outbox.ts';
import { failedEntries, setVisibility } from '../delivery/queues.ts';
import { eventBridgeClient, eventBus } from '../events/event-bus.ts';
import { deadLetterWorker, parseOrAbandon } from '../events/worker.ts';

export const DeadPublicationsEnvironment = z.object({
  EVENT_BUS: NonEmptyText,
  OUTBOX_TABLE: NonEmptyText,
  /** The worker's own queue, to which it also sends entries. */
  DEAD_PUBLICATIONS: NonEmptyText,
});
export type DeadPublicationsEnvironment = z.input<typeof DeadPublicationsEnvironment>;

const environment = readEnvironment(DeadPublicationsEnvironment);
const sqs = queueClient();
const bus = eventBus(eventBridgeClient(), environment.EVENT_BUS, logger.log);
const { outbox } = openTables(environment);

/** Processes the dead letters of the publisher's stream. */
export const handler = deadLetterWorker(
  processDeadEntries({
    outbox: outboxEntries(outbox, streamsClient(), parseOrAbandon(parseBusEvent)),
    process: (events) => bus.put(events),
    handOver: failedEntries(sqs, environment.DEAD_PUBLICATIONS, PUBLICATION),
    getName: (event) => event,
    log: logger.log,
    now: () => new Date(),
  }),
  setVisibility(sqs, environment.DEAD_PUBLICATIONS),
);
