import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchGetCommand,
  type BatchGetCommandInput,
  type BatchGetCommandOutput,
  GetCommand,
} from '@aws-sdk/lib-dynamodb';
import { Endpoint } from '../domain/endpoint.ts';
import type { OutboxEvent } from '../domain/events.ts';
import type { EventId, OrgId, ReceiverId } from '../domain/ids.ts';
import { keys } from './keys.ts';
import { parseEvent } from './outbox.ts';
import type { Table } from './table.ts';

/** What a reminder of a delivery names. */
export interface ContextRef {
  orgId: OrgId;
  webhookId: ReceiverId;
  eventId: EventId;
}

export interface DeliveryContext {
  endpoint: Endpoint | undefined;
  event: OutboxEvent | undefined;
}

type Key = { pk: string; sk?: string };
type Row = Record<string, unknown>;
type Request = NonNullable<BatchGetCommandInput['RequestItems']>;

/**
 * Reads the endpoints and events of a batch of deliveries: each once, all in one request. The reads are
 * eventually consistent, at half the price: an event never changes, and an endpoint that was changed or
 * deleted in the last moments is as if the attempt had begun before. A row that the request does not return
 * is read again by itself, consistently: it may be new, or the only one that DynamoDB refuses.
 * @returns the context of one delivery; throws when one of its rows is refused or unreadable
 */
export function deliveryContexts(service: Table, outbox: Pick<Table, 'name'>) {
  const { client } = service;

  async function readOne(table: string, key: Key): Promise<Row | undefined> {
    const { Item } = await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }));
    return Item;
  }

  /** The rows under these keys, those already found included, each with its own failure. */
  async function readAll<T>(
    table: string,
    wanted: ReadonlyMap<string, Key>,
    found: readonly Row[],
    parse: (row: Row) => T,
  ): Promise<(key: Key) => T | undefined> {
    const rows = new Map(found.map((row) => [buildRowName(row), row]));
    const results = await Promise.allSettled(
      [...wanted].map(async ([name, key]) => {
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
    // DynamoDB refuses a request for no keys.
    if (refs.length === 0) return () => ({ endpoint: undefined, event: undefined });

    const endpointKeys = indexByName(refs.map(endpointKey));
    const eventKeys = indexByName(refs.map(eventKey));
    const found = await batchGet(client, {
      [service.name]: { Keys: [...endpointKeys.values()] },
      [outbox.name]: { Keys: [...eventKeys.values()] },
    });
    const [endpointAt, eventAt] = await Promise.all([
      readAll(service.name, endpointKeys, found[service.name] ?? [], (row) => Endpoint.parse(row)),
      readAll(outbox.name, eventKeys, found[outbox.name] ?? [], parseEvent),
    ]);
    return (ref) => ({ endpoint: endpointAt(endpointKey(ref)), event: eventAt(eventKey(ref)) });
  };
}

const endpointKey = ({ orgId, webhookId }: ContextRef): Key => ({ ...keys.endpoint(orgId, webhookId) });
const eventKey = ({ eventId }: ContextRef): Key => keys.event(eventId);

/** Tells the rows of one table apart. */
const buildRowName = ({ pk, sk }: Row | Key): string => JSON.stringify([pk, sk]);
const indexByName = (wanted: readonly Key[]): Map<string, Key> =>
  new Map(wanted.map((key) => [buildRowName(key), key]));

const MAX_TRIES = 4;

/**
 * DynamoDB may answer a part and return the other keys as unprocessed, which the SDK does not retry.
 * @returns what was found; nothing more once a request was rejected
 */
async function batchGet(client: Table['client'], request: Request): Promise<Record<string, Row[]>> {
  const rows: Record<string, Row[]> = {};
  let pending: BatchGetCommandInput['RequestItems'] = request;
  for (let attempt = 0; attempt < MAX_TRIES && pending && Object.keys(pending).length > 0; attempt++) {
    if (attempt > 0) await sleep(Math.random() * 50 * 2 ** attempt);
    let answer: BatchGetCommandOutput;
    try {
      answer = await client.send(new BatchGetCommand({ RequestItems: pending }));
    } catch {
      // One refused row rejects the request. Read by itself, each row reports its own error.
      return rows;
    }
    for (const [table, found] of Object.entries(answer.Responses ?? {}))
      rows[table] = [...(rows[table] ?? []), ...found];
    pending = answer.UnprocessedKeys;
  }
  return rows;
}
