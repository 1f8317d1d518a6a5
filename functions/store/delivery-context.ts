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
import { eventOf } from './outbox.ts';
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

/**
 * Reads the endpoints and events of a batch of deliveries: each once, all in one request. The reads are eventually
 * consistent, at half the price: an event never changes, and an endpoint that was changed or deleted in the last moments
 * is as if the attempt had begun before. What is *missing* is read again consistently, because it may just be new.
 */
export function deliveryContexts(service: Table, outbox: Pick<Table, 'name'>) {
  const { client } = service;

  async function confirm<T>(table: string, key: object, parse: (row: unknown) => T): Promise<T | undefined> {
    const { Item } = await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: true }));
    return Item && parse(Item);
  }

  return async (refs: readonly ContextRef[]): Promise<(ref: ContextRef) => DeliveryContext> => {
    const endpoints = new Map<string, Endpoint | undefined>();
    const events = new Map<string, OutboxEvent | undefined>();
    const orgOf = new Map(refs.map((ref) => [ref.webhookId, ref.orgId]));

    // DynamoDB refuses a request for no keys.
    if (refs.length === 0) return () => ({ endpoint: undefined, event: undefined });

    const rows = await batchGet(client, {
      [service.name]: { Keys: [...orgOf].map(([id, orgId]) => keys.endpoint(orgId, id)) },
      [outbox.name]: { Keys: [...new Set(refs.map((ref) => ref.eventId))].map((id) => keys.event(id)) },
    });
    for (const row of rows[service.name] ?? []) endpoints.set(String(row.sk), Endpoint.parse(row));
    for (const row of rows[outbox.name] ?? []) events.set(String(row.pk), eventOf(row));

    await Promise.all(
      refs.map(async ({ orgId, webhookId, eventId }) => {
        if (!endpoints.has(webhookId))
          endpoints.set(
            webhookId,
            await confirm(service.name, keys.endpoint(orgId, webhookId), (row) => Endpoint.parse(row)),
          );
        if (!events.has(eventId))
          events.set(eventId, await confirm(outbox.name, keys.event(eventId), eventOf));
      }),
    );
    return ({ webhookId, eventId }) => ({ endpoint: endpoints.get(webhookId), event: events.get(eventId) });
  };
}

type Rows = Record<string, Record<string, unknown>[]>;

/** DynamoDB may answer a part and return the other keys as unprocessed, which the SDK does not retry. */
async function batchGet(
  client: Table['client'],
  request: NonNullable<BatchGetCommandInput['RequestItems']>,
): Promise<Rows> {
  const rows: Rows = {};
  let pending: BatchGetCommandInput['RequestItems'] = request;
  for (let attempt = 0; attempt < MAX_TRIES && pending && Object.keys(pending).length > 0; attempt++) {
    if (attempt > 0) await sleep(Math.random() * 50 * 2 ** attempt);
    const answer: BatchGetCommandOutput = await client.send(new BatchGetCommand({ RequestItems: pending }));
    for (const [table, found] of Object.entries(answer.Responses ?? {}))
      rows[table] = [...(rows[table] ?? []), ...found];
    pending = answer.UnprocessedKeys;
  }
  return rows;
}

const MAX_TRIES = 4;
