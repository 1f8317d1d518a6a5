import { type EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { BUS_SOURCE, type BusEvent } from '../domain/bus.ts';

/** Entries that EventBridge takes in one request. */
const ENTRIES = 10;

export interface EventBus {
  /** @returns the events that the bus did not take */
  put(events: readonly BusEvent[]): Promise<BusEvent[]>;
}

/**
 * Puts events on the bus, in as few requests as it takes, all at once. A request may succeed and yet take only some of its entries; one that
 * fails takes none, as far as anybody can tell.
 */
export function eventBus(
  client: EventBridgeClient,
  name: string,
  onRefusal: (refused: { reason?: string; error?: unknown }) => void,
): EventBus {
  async function putSome(events: readonly BusEvent[]): Promise<BusEvent[]> {
    try {
      const { Entries = [] } = await client.send(
        new PutEventsCommand({
          Entries: events.map((event) => ({
            EventBusName: name,
            Source: BUS_SOURCE,
            DetailType: event.type,
            Time: new Date(event.createdAt),
            Detail: JSON.stringify(event),
          })),
        }),
      );
      const refused = events.filter((_, index) => Entries[index]?.EventId === undefined);
      for (const reason of new Set(Entries.flatMap(({ ErrorCode }) => ErrorCode ?? [])))
        onRefusal({ reason });
      return refused;
    } catch (error) {
      onRefusal({ error });
      return [...events];
    }
  }

  return {
    async put(events) {
      const requests = Array.from({ length: Math.ceil(events.length / ENTRIES) }, (_, index) =>
        putSome(events.slice(index * ENTRIES, (index + 1) * ENTRIES)),
      );
      return (await Promise.all(requests)).flat();
    },
  };
}
