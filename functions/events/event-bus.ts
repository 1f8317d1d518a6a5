import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { countThrottles, leanClientOptions } from '../aws/clients.ts';
import { REQUEST_BYTES, splitIntoChunks } from '../aws/concurrency.ts';
import type { Log } from '../aws/log-codes.ts';
import { ABANDONED_ENTRIES, count } from '../aws/metrics.ts';
import { BUS_SOURCE, type BusEvent } from './bus.ts';

/** Limits of a PutEvents request. */
const LIMITS = { entries: 10, bytes: REQUEST_BYTES };

/**
 * Puts events on the bus in as few parallel requests as number and size allow. A successful request may have
 * taken only some entries. A request refused for its content is halved until the faulty entry is alone, which
 * is abandoned: it would block the stream's shard.
 */
export function eventBus(client: EventBridgeClient, name: string, log: Log) {
  function toOutgoing(event: BusEvent) {
    const entry = {
      EventBusName: name,
      Source: BUS_SOURCE,
      DetailType: event.type,
      Time: new Date(event.createdAt),
      Detail: JSON.stringify(event),
    };
    return { event, entry, bytes: getEntrySize(entry) };
  }

  type Outgoing = ReturnType<typeof toOutgoing>;

  async function putBatch(some: readonly Outgoing[]): Promise<BusEvent[]> {
    try {
      const { Entries = [] } = await client.send(
        new PutEventsCommand({ Entries: some.map(({ entry }) => entry) }),
      );
      for (const reason of new Set(Entries.flatMap(({ ErrorCode }) => ErrorCode ?? [])))
        log('BUS_REFUSED', { reason });
      return some.filter((_, index) => Entries[index]?.EventId === undefined).map(({ event }) => event);
    } catch (error) {
      if (isContentError(error)) return putHalves(some, error);
      log('BUS_REFUSED', { error });
      return some.map(({ event }) => event);
    }
  }

  async function putHalves(some: readonly Outgoing[], error: unknown): Promise<BusEvent[]> {
    const [first, ...others] = some;
    if (first !== undefined && others.length === 0) {
      const { id, type, orgId, traceId } = first.event;
      log('BUS_ENTRY_GIVEN_UP', { id, type, orgId, bytes: first.bytes, traceId, error });
      count(ABANDONED_ENTRIES);
      return [];
    }
    const half = Math.ceil(some.length / 2);
    return (await Promise.all([putBatch(some.slice(0, half)), putBatch(some.slice(half))])).flat();
  }

  return {
    /** @returns the events that the bus did not take; they may be retried */
    async put(events: readonly BusEvent[]): Promise<BusEvent[]> {
      const requests = splitIntoChunks(events.map(toOutgoing), ({ bytes }) => bytes, LIMITS);
      return (await Promise.all(requests.map(putBatch))).flat();
    },
  };
}

/** Bytes as EventBridge counts them: 14 for the time (User Guide, Calculating PutEvents event entry size). */
const getEntrySize = ({ Source = '', DetailType = '', Detail = '' }: PutEventsRequestEntry): number =>
  14 + [Source, DetailType, Detail].reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** Whether the content of entries was refused; a throttled or forbidden request may succeed later. */
function isContentError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { httpStatusCode } = ('$metadata' in error ? error.$metadata : {}) as { httpStatusCode?: number };
  return error.name === 'ValidationException' || httpStatusCode === 413;
}

export const eventBridgeClient = (): EventBridgeClient =>
  countThrottles(new EventBridgeClient(leanClientOptions('events')), 'eventbridge');
