import * as z from 'zod/mini';
import { queueClient } from '../aws/clients.ts';
import { NonEmptyText, readEnvironment } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { parseRow } from '../aws/table.ts';
import { PUBLICATION, parseBusEvent } from '../delivery/outbox.ts';
import { failedEntries } from '../delivery/queues.ts';
import { eventBridgeClient, eventBus } from '../events/event-bus.ts';
import { outboxReader } from '../events/worker.ts';

export const PublishEnvironment = z.object({
  EVENT_BUS: NonEmptyText,
  /** Takes entries that fail. */
  DEAD_PUBLICATIONS: NonEmptyText,
});
export type PublishEnvironment = z.input<typeof PublishEnvironment>;

const environment = readEnvironment(PublishEnvironment);
const bus = eventBus(eventBridgeClient(), environment.EVENT_BUS, logger.log);

/** Puts inserts of the outbox's stream on the bus. */
export const handler = outboxReader(
  (image) => parseBusEvent(parseRow(image)),
  bus.put,
  failedEntries(queueClient(), environment.DEAD_PUBLICATIONS, PUBLICATION),
);
