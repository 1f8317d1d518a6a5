import * as z from 'zod/mini';
import { openTables } from '../aws/clients.ts';
import { NonEmptyText, readEnvironment } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { PUBLICATION } from '../delivery/outbox.ts';
import { deadLetterWorker } from '../delivery/outbox-readers.ts';
import { eventBridgeClient, eventBus } from '../events/event-bus.ts';

export const DeadPublicationsEnvironment = z.object({
  EVENT_BUS: NonEmptyText,
  OUTBOX_TABLE: NonEmptyText,
  /** The worker's own queue, to which it also sends entries. */
  DEAD_PUBLICATIONS: NonEmptyText,
});

const environment = readEnvironment(DeadPublicationsEnvironment);

/** Processes the dead letters of the publisher's stream. */
export const handler = deadLetterWorker(PUBLICATION, {
  outbox: openTables(environment).outbox,
  url: environment.DEAD_PUBLICATIONS,
  handle: eventBus(eventBridgeClient(), environment.EVENT_BUS, logger.log).put,
});
