import { EventBridgeClient, PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { BUS_SOURCE, type BusEvent } from '../domain/bus.ts';
import { REQUEST_BYTES, splitIntoChunks } from './chunks.ts';
import { clientOptions } from './clients/clients.ts';
import { countThrottles } from './clients/throttles.ts';

/** Entries that EventBridge takes in one request. */
const ENTRIES = 10;
/** What an entry's time counts for. */
const TIME_BYTES = 14;

export interface EventBus {
  /** @returns the events that the bus did not take, and may take later */
  put(events: readonly BusEvent[]): Promise<BusEvent[]>;
}

/** What a bus reports besides. */
export interface BusReports {
  /** Entries that will be repeated: a code that the bus gave them, or why a whole request failed. */
  onRefusal(refused: { reason?: string; error?: unknown }): void;
  /** An entry that EventBridge refuses on its own, however often it is repeated. */
  onGivenUp(refused: { event: BusEvent; bytes: number; error: unknown }): void;
}

interface Outgoing {
  event: BusEvent;
  entry: PutEventsRequestEntry;
  bytes: number;
}

/**
 * Puts events on the bus, in as few requests as their number and size allow, all at once. A request may
 * succeed and yet take only some of its entries. One that is refused for what it holds is halved until the
 * entry at fault is alone, which is given up: no repetition can make it smaller, and the stream's shard would
 * wait for it.
 */
export function eventBus(client: EventBridgeClient, name: string, reports: BusReports): EventBus {
  function outgoing(event: BusEvent): Outgoing {
    const entry = {
      EventBusName: name,
      Source: BUS_SOURCE,
      DetailType: event.type,
      Time: new Date(event.createdAt),
      Detail: JSON.stringify(event),
    };
    return { event, entry, bytes: getEntrySize(entry) };
  }

  async function putSome(some: readonly Outgoing[]): Promise<BusEvent[]> {
    try {
      const { Entries = [] } = await client.send(
        new PutEventsCommand({ Entries: some.map(({ entry }) => entry) }),
      );
      for (const reason of new Set(Entries.flatMap(({ ErrorCode }) => ErrorCode ?? [])))
        reports.onRefusal({ reason });
      return some.filter((_, index) => Entries[index]?.EventId === undefined).map(({ event }) => event);
    } catch (error) {
      if (isContentError(error)) return putHalves(some, error);
      reports.onRefusal({ error });
      return some.map(({ event }) => event);
    }
  }

  async function putHalves(some: readonly Outgoing[], error: unknown): Promise<BusEvent[]> {
    const [first, ...others] = some;
    if (first !== undefined && others.length === 0) {
      reports.onGivenUp({ event: first.event, bytes: first.bytes, error });
      return [];
    }
    const half = Math.ceil(some.length / 2);
    const back = await Promise.all([putSome(some.slice(0, half)), putSome(some.slice(half))]);
    return back.flat();
  }

  return {
    async put(events) {
      const limits = { entries: ENTRIES, bytes: REQUEST_BYTES };
      const requests = splitIntoChunks(events.map(outgoing), ({ bytes }) => bytes, limits);
      return (await Promise.all(requests.map(putSome))).flat();
    },
  };
}

/** In bytes, as EventBridge counts them (User Guide, Calculating PutEvents event entry size). */
const getEntrySize = ({ Source = '', DetailType = '', Detail = '' }: PutEventsRequestEntry): number =>
  TIME_BYTES + [Source, DetailType, Detail].reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/**
 * Whether a request was refused for what its entries hold: a throttled or forbidden one may be taken later.
 */
function isContentError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { httpStatusCode } = ('$metadata' in error ? error.$metadata : {}) as { httpStatusCode?: number };
  return error.name === 'ValidationException' || httpStatusCode === 413;
}

export const eventBridgeClient = (): EventBridgeClient =>
  countThrottles(new EventBridgeClient(clientOptions()), 'eventbridge');
