import * as z from 'zod/mini';
import { parseRow } from '../aws/table.ts';
import { queueClient } from '../platform/clients/clients.ts';
import { NonEmptyText, readEnvironment } from '../platform/config.ts';
import { eventBridgeClient, eventBus } from '../platform/event-bus.ts';
import { outboxReader } from '../platform/pipeline/worker.ts';
import { failedEntries } from '../platform/queues.ts';
import { busReports } from '../platform/reports.ts';
import { PUBLICATION, parseBusEvent } from '../store/outbox.ts';

export const PublishEnvironment = z.object({
  EVENT_BUS: NonEmptyText,
  /** Takes entries that fail. */
  DEAD_PUBLICATIONS: NonEmptyText,
});
export type PublishEnvironment = z.input<typeof PublishEnvironment>;

const environment = readEnvironment(PublishEnvironment);
const bus = eventBus(eventBridgeClient(), environment.EVENT_BUS, busReports);

/** Puts inserts of the outbox's stream on the bus. */
export const handler = outboxReader(
  (image) => parseBusEvent(parseRow(image)),
  bus.put,
  failedEntries(queueClient(), environment.DEAD_PUBLICATIONS, PUBLICATION),
);
