import * as z from 'zod/mini';
import { queueClient } from '../aws/clients.ts';
import { NonEmptyText, readEnvironment } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { PUBLICATION } from '../delivery/outbox.ts';
import { failedEntries, outboxReader } from '../delivery/outbox-readers.ts';
import { eventBridgeClient, eventBus } from '../events/event-bus.ts';

export const PublishEnvironment = z.object({
  EVENT_BUS: NonEmptyText,
  /** Takes entries that fail. */
  DEAD_PUBLICATIONS: NonEmptyText,
});

const environment = readEnvironment(PublishEnvironment);

/** Puts inserts of the outbox's stream on the bus. */
export const handler = outboxReader(
  PUBLICATION,
  eventBus(eventBridgeClient(), environment.EVENT_BUS, logger.log).put,
  failedEntries(queueClient(), environment.DEAD_PUBLICATIONS, PUBLICATION),
);
