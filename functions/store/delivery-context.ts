import { setTimeout as sleep } from 'node:timers/promises';
import { BatchGetCommand, type BatchGetCommandInput, GetCommand } from '@aws-sdk/lib-dynamodb';
import { Endpoint } from '../domain/endpoint.ts';
import type { OutboxEvent } from '../domain/events.ts';
import type { EventId, OrgId, ReceiverId } from '../domain/ids.ts';
import { keys } from './keys.ts';
import { parseEvent } from './outbox.ts';
import { ReadThrottled, type Table } from './table.ts';

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

type Key = { pk: string; sk: string };
type Row = Record<string, unknown>;
type Request = NonNullable<BatchGetCommandInput['RequestItems']>;

/**
 * Reads the endpoints and events of a batch, each once, in one request. Eventually consistent, at half the
 * price: events never change, and an endpoint's change may take effect after the attempt starts. Missing rows
 * may be new, and are read again consistently. Where DynamoDB throttles, nothing is read again: the messages
 * return later.
 * @param reportRefusal receives the error of a request that DynamoDB refused for one of its rows: then each
 * row is read alone, so that it has its own error
 * @returns a function for the context of one delivery; it throws when a row cannot be read
 */
export function deliveryContexts(
  service: Table,
  outbox: Pick<Table, 'name'>,
  reportRefusal: (error: unknown) => void,
) {
  const { client } = service;

  async function readOne(table: string, key: Key): Promise<Row | undefined> {
    const { Item } = await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }));
    return Item;
  }

  /** Returns the rows of these keys, each with its own failure. */
  async function readAll<T>(
    table: string,
    wanted: ReadonlyMap<string, Key>,
    { rows: found, unread }: BatchRead,
    parse: (row: Row) => T,
  ): Promise<(key: Key) => T | undefined> {
    const rows = new Map(found[table]?.map((row) => [buildRowName(row), row]));
    const throttled = new Set(unread[table]?.Keys?.map(buildRowName));
    const results = await Promise.allSettled(
      [...wanted].map(async ([name, key]) => {
        if (throttled.has(name)) throw new ReadThrottled(`a row of ${table} was not read`);
        const row = rows.get(name) ?? (await readOne(table, key));
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
    const request = {
      [service.name]: { Keys: [...endpointKeys.values()] },
      [outbox.name]: { Keys: [...eventKeys.values()] },
    };
    const found = await batchGet(client, request).catch((error: unknown): BatchRead => {
      if (!isRowRefused(error)) throw error;
      reportRefusal(error);
      return { rows: {}, unread: {} };
    });
    const [endpointAt, eventAt] = await Promise.all([
      readAll(service.name, endpointKeys, found, (row) => Endpoint.parse(row)),
      readAll(outbox.name, eventKeys, found, parseEvent),
    ]);
    return (ref) => ({ endpoint: endpointAt(buildEndpointKey(ref)), event: eventAt(buildEventKey(ref)) });
  };
}

const buildEndpointKey = ({ orgId, webhookId }: ContextRef): Key => ({ ...keys.endpoint(orgId, webhookId) });
const buildEventKey = ({ eventId, ...tenant }: ContextRef): Key => ({ ...keys.event(tenant, eventId) });

const buildRowName = ({ pk, sk }: Row | Key): string => JSON.stringify([pk, sk]);
const indexByName = (wanted: readonly Key[]): Map<string, Key> =>
  new Map(wanted.map((key) => [buildRowName(key), key]));

const MAX_TRIES = 4;

/** What a batch read found, and the keys that DynamoDB did not process under throttling. */
interface BatchRead {
  rows: Record<string, Row[]>;
  unread: Request;
}

/** DynamoDB may return unprocessed keys, which the SDK does not retry. */
async function batchGet(client: Table['client'], request: Request): Promise<BatchRead> {
  const rows: BatchRead['rows'] = {};
  let unread = request;
  for (let attempt = 0; attempt < MAX_TRIES && Object.keys(unread).length > 0; attempt++) {
    if (attempt > 0) await sleep(Math.random() * 50 * 2 ** attempt);
    const { Responses = {}, UnprocessedKeys = {} } = await client.send(
      new BatchGetCommand({ RequestItems: unread }),
    );
    for (const [table, found] of Object.entries(Responses)) rows[table] = [...(rows[table] ?? []), ...found];
    unread = UnprocessedKeys;
  }
  return { rows, unread };
}

/** One row that DynamoDB refuses, for example by a malformed key, rejects the whole request. */
const isRowRefused = (error: unknown): boolean =>
  error instanceof Error && ['ValidationException', 'AccessDeniedException'].includes(error.name);
