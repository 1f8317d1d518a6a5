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
 * may be new, and are read again consistently.
 * @returns a function for the context of one delivery; it throws when a row cannot be read
 */
export function deliveryContexts(service: Table, outbox: Pick<Table, 'name'>) {
  const { client } = service;

  async function readOne(table: string, key: Key): Promise<Row | undefined> {
    const { Item } = await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }));
    return Item;
  }

  /** Returns the rows of these keys, each with its own failure. */
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
    // DynamoDB refuses a request without keys.
    if (refs.length === 0) return () => ({ endpoint: undefined, event: undefined });

    const endpointKeys = indexByName(refs.map(buildEndpointKey));
    const eventKeys = indexByName(refs.map(buildEventKey));
    const found = await batchGet(client, {
      [service.name]: { Keys: [...endpointKeys.values()] },
      [outbox.name]: { Keys: [...eventKeys.values()] },
    });
    const [endpointAt, eventAt] = await Promise.all([
      readAll(service.name, endpointKeys, found[service.name] ?? [], (row) => Endpoint.parse(row)),
      readAll(outbox.name, eventKeys, found[outbox.name] ?? [], parseEvent),
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

/**
 * DynamoDB may return unprocessed keys, which the SDK does not retry.
 * @returns what was found, up to the first rejected request
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
      // One refused row rejects the whole request. The caller then reads rows alone, so each has its own
      // error.
      return rows;
    }
    for (const [table, found] of Object.entries(answer.Responses ?? {}))
      rows[table] = [...(rows[table] ?? []), ...found];
    pending = answer.UnprocessedKeys;
  }
  return rows;
}
