import * as z from 'zod/mini';
import { processDeadEntries } from '../engine/dead-letters.ts';
import { queueClient, streamsClient } from '../platform/clients/clients.ts';
import { NonEmptyText, readEnvironment } from '../platform/config.ts';
import { eventBridgeClient, eventBus } from '../platform/event-bus.ts';
import { logger } from '../platform/logger.ts';
import { deadLetterWorker, parseOrAbandon } from '../platform/pipeline/worker.ts';
import { failedEntries, setVisibility } from '../platform/queues.ts';
import { busReports } from '../platform/reports.ts';
import { openTables } from '../platform/tables.ts';
import { outboxEntries, PUBLICATION, parseBusEvent } from '../store/outbox.ts';

export const DeadPublicationsEnvironment = z.object({
  EVENT_BUS: NonEmptyText,
  OUTBOX_TABLE: NonEmptyText,
  /** The worker's own queue, to which it also sends entries. */
  DEAD_PUBLICATIONS: NonEmptyText,
});
export type DeadPublicationsEnvironment = z.input<typeof DeadPublicationsEnvironment>;

const environment = readEnvironment(DeadPublicationsEnvironment);
const sqs = queueClient();
const bus = eventBus(eventBridgeClient(), environment.EVENT_BUS, busReports);
const { outbox } = openTables(environment);

/** Processes the dead letters of the publisher's stream. */
export const handler = deadLetterWorker(
  processDeadEntries({
    ...outboxEntries(outbox, streamsClient(), parseOrAbandon(parseBusEvent)),
    process: (events) => bus.put(events),
    handOver: failedEntries(sqs, environment.DEAD_PUBLICATIONS, PUBLICATION).send,
    getName: (event) => event,
    log: logger.log,
    now: () => new Date(),
  }),
  setVisibility(sqs, environment.DEAD_PUBLICATIONS),
);
