import type { EventId, OrgId, ReceiverId } from '../aws/ids.ts';
import { type BatchRead, get, getBatch, type Key, type Row, type Table, Throttled } from '../aws/table.ts';
import { OutboxEvent } from '../events/events.ts';
import { Endpoint } from '../receivers/endpoint.ts';
import { keys } from '../tenancy/keys.ts';

/** Rows that a delivery message names. */
export interface ContextRef {
  orgId: OrgId;
  generation: number;
  webhookId: ReceiverId;
  eventId: EventId;
}

export interface DeliveryContext {
  endpoint: Endpoint | undefined;
  event: OutboxEvent | undefined;
}

/**
 * Reads the endpoints and events of a batch, each once, in one request. Eventually consistent, at half the
 * price: events never change, and an endpoint's change may take effect after the attempt starts. Missing rows
 * may be new, and are read again consistently. Where DynamoDB throttles, nothing is read again: the messages
 * return later.
 * @param reportRefusal receives the error of a request that DynamoDB refused for one of its rows: then each
 * row is read alone, so that it has its own error
 * @returns a function for the context of one delivery; it throws when a row cannot be read
 */
export function deliveryContexts(service: Table, outbox: Table, reportRefusal: (error: unknown) => void) {
  /** Returns the rows of these keys, each with its own failure. */
  async function readAll<T>(
    table: Table,
    wanted: ReadonlyMap<string, Key>,
    { rows: found, unread }: BatchRead,
    parse: (row: Row) => T,
  ): Promise<(key: Key) => T | undefined> {
    const rows = new Map(found.get(table.name)?.map((row) => [buildRowName(row), row]));
    const throttled = new Set(unread.get(table.name)?.map(buildRowName));
    const results = await Promise.allSettled(
      [...wanted].map(async ([name, key]) => {
        if (throttled.has(name)) throw new Throttled(`a row of ${table.name} was not read`);
        const row = rows.get(name) ?? (await get(table, key));
        return row && parse(row);
      }),
    );
    const byName = new Map([...wanted.keys()].map((name, index) => [name, results[index]]));
    return (key) => {
      const result = byName.get(buildRowName(key));
      if (result?.status === 'rejected') throw result.reason;
      return result?.value;
    };
  }

  return async (refs: readonly ContextRef[]): Promise<(ref: ContextRef) => DeliveryContext> => {
    // DynamoDB refuses a request without keys.
    if (refs.length === 0) return () => ({ endpoint: undefined, event: undefined });

    const endpointKeys = indexByName(refs.map(buildEndpointKey));
    const eventKeys = indexByName(refs.map(buildEventKey));
    const found = await getBatch(service, [
      { table: service, keys: [...endpointKeys.values()] },
      { table: outbox, keys: [...eventKeys.values()] },
    ]).catch((error: unknown): BatchRead => {
      if (!isRowRefused(error)) throw error;
      reportRefusal(error);
      return { rows: new Map(), unread: new Map() };
    });
    const [endpointAt, eventAt] = await Promise.all([
      readAll(service, endpointKeys, found, (row) => Endpoint.parse(row)),
      readAll(outbox, eventKeys, found, (row) => OutboxEvent.parse(row)),
    ]);
    return (ref) => ({ endpoint: endpointAt(buildEndpointKey(ref)), event: eventAt(buildEventKey(ref)) });
  };
}

const buildEndpointKey = ({ orgId, webhookId }: ContextRef): Key => keys.endpoint(orgId, webhookId);
const buildEventKey = ({ eventId, ...tenant }: ContextRef): Key => keys.event(tenant, eventId);

const buildRowName = ({ pk, sk }: Row | Key): string => JSON.stringify([pk, sk]);
const indexByName = (wanted: readonly Key[]): Map<string, Key> =>
  new Map(wanted.map((key) => [buildRowName(key), key]));

/** One row that DynamoDB refuses, for example by a malformed key, rejects the whole request. */
const isRowRefused = (error: unknown): boolean =>
  error instanceof Error && ['ValidationException', 'AccessDeniedException'].includes(error.name);
