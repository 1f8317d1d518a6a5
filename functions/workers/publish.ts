import * as z from 'zod/mini';
import { busReports } from '../platform/bus-reports.ts';
import { eventBridgeClient } from '../platform/clients/eventbridge.ts';
import { NonEmptyText, readEnvironment } from '../platform/config.ts';
import { eventBus } from '../platform/event-bus.ts';
import { outboxReader } from '../platform/pipeline/outbox-reader.ts';
import { toldBy } from '../store/outbox.ts';
import { rowOf } from '../store/stream-rows.ts';

export const PublishEnvironment = z.object({ EVENT_BUS: NonEmptyText });
export type PublishEnvironment = z.input<typeof PublishEnvironment>;

const environment = readEnvironment(PublishEnvironment);
const bus = eventBus(eventBridgeClient(), environment.EVENT_BUS, busReports);

/** Takes inserts of the outbox's stream, and puts what they tell on the bus. */
export const handler = outboxReader((image) => toldBy(rowOf(image)), bus.put);
