import { BatchGetCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Delivery } from '../domain/delivery.ts';
import type { EndpointId } from '../domain/ids.ts';
import { endOfHour, type LedgerCounts, LedgerEntry } from '../domain/ledger.ts';
import { HISTORY_DAYS } from '../domain/redelivery.ts';
import { deliveryOf } from './deliveries.ts';
import type { Position } from './due-index.ts';
import { deliveriesBetween, keys } from './keys.ts';
import { expiry, type Table, updated } from './table.ts';
import type { Change, Commit } from './transaction.ts';

/** A shard of a stream is gone a day after its last record. */
const POSITION_DAYS = 7;
/** DynamoDB gives at most so many items by their keys in one request. */
const BATCH = 100;
const MAX_ROUNDS = 5;

const parse = (row: unknown): LedgerEntry => LedgerEntry.parse(row);

/** A step of the ledger along one shard of the deliveries' stream, from the sequence number that it had come to. */
export interface Step {
  shardId: string;
  from: string | undefined;
  to: string;
}

/** Counts by endpoint and hour, and how far each shard of the stream has been counted. */
export function ledgerStore(ledger: Table, commit: Commit) {
  const table = { TableName: ledger.name };

  return {
    /** The sequence number of the last record of a shard that was counted. */
    async position(shardId: string): Promise<string | undefined> {
      const { Item } = await ledger.client.send(
        new GetCommand({ ...table, Key: keys.streamPosition(shardId), ConsistentRead: true }),
      );
      return Item && String(Item.position);
    },

    /**
     * Adds to the counts and moves the position, in one transaction: a record is counted once however often it is read.
     * @returns `moved` when the position is no longer where the step begins
     */
    async add(step: Step, entries: readonly LedgerEntry[]): Promise<'added' | 'moved'> {
      const result = await commit([advance(step), ...entries.map(addition)]);
      return result.kind === 'committed' ? 'added' : 'moved';
    },

    /** What is counted of an endpoint in these hours, in no particular order; hours without deliveries are left out. */
    async read(endpoint: EndpointId, generation: number, hours: readonly string[]): Promise<LedgerEntry[]> {
      const found: LedgerEntry[] = [];
      let keysLeft = hours.map(
        (hour): Record<string, unknown> => ({ ...keys.ledger(endpoint, generation, hour) }),
      );
      for (let round = 0; keysLeft.length > 0; round += 1) {
        if (round === MAX_ROUNDS + hours.length / BATCH)
          throw new Error('the ledger could not be read in full');
        const { Responses = {}, UnprocessedKeys = {} } = await ledger.client.send(
          new BatchGetCommand({ RequestItems: { [ledger.name]: { Keys: keysLeft.slice(0, BATCH) } } }),
        );
        found.push(...(Responses[ledger.name] ?? []).map(parse));
        keysLeft = [...(UnprocessedKeys[ledger.name]?.Keys ?? []), ...keysLeft.slice(BATCH)];
      }
      return found;
    },

    /** All endpoints that were owed something in an hour, a page of one shard at a time. */
    async inHour(
      hour: string,
      shard: number,
      after?: Position,
    ): Promise<{ entries: LedgerEntry[]; next?: Position }> {
      const { Items = [], LastEvaluatedKey } = await ledger.client.send(
        new QueryCommand({
          ...table,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': keys.ledgerHour(hour, shard) },
          ...(after === undefined ? {} : { ExclusiveStartKey: after }),
        }),
      );
      return {
        entries: Items.map(parse),
        ...(LastEvaluatedKey === undefined ? {} : { next: LastEvaluatedKey }),
      };
    },

    /** Puts the counts right, unless they changed since they were seen. */
    async correct(seen: LedgerEntry, counts: LedgerCounts): Promise<'corrected' | 'changed'> {
      const names = COUNTS.filter((name) => name in counts);
      const held = await updated(ledger, {
        Key: keys.ledger(seen.webhookId, seen.generation, seen.hour),
        UpdateExpression: `SET ${names.map((name) => `${name} = :${name}`).join(', ')}`,
        ConditionExpression: names.map((name) => `${name} = :seen_${name}`).join(' AND '),
        ExpressionAttributeValues: Object.fromEntries(
          names.flatMap((name) => [
            [`:${name}`, counts[name]],
            [`:seen_${name}`, seen[name]],
          ]),
        ),
      });
      return held ? 'corrected' : 'changed';
    },
  };

  function advance({ shardId, from, to }: Step): Change {
    return {
      refusal: 'position-moved',
      write: {
        Update: {
          ...table,
          Key: keys.streamPosition(shardId),
          UpdateExpression: 'SET #position = :to, expiresAt = :expiry',
          ConditionExpression: from === undefined ? 'attribute_not_exists(pk)' : '#position = :from',
          ExpressionAttributeNames: { '#position': 'position' },
          ExpressionAttributeValues: {
            ':to': to,
            ':expiry': expiry(new Date(), POSITION_DAYS),
            ...(from === undefined ? {} : { ':from': from }),
          },
        },
      },
    };
  }

  function addition(entry: LedgerEntry): Change {
    const { webhookId, generation, hour } = entry;
    return {
      refusal: 'exists',
      write: {
        Update: {
          ...table,
          Key: keys.ledger(webhookId, generation, hour),
          UpdateExpression: `SET webhookId = :webhookId, generation = :generation, #hour = :hour, expiresAt = :expiry ADD ${COUNTS.map((name) => `${name} :${name}`).join(', ')}`,
          ExpressionAttributeNames: { '#hour': 'hour' },
          ExpressionAttributeValues: {
            ':webhookId': webhookId,
            ':generation': generation,
            ':hour': hour,
            ':expiry': expiry(new Date(hour), HISTORY_DAYS),
            ...Object.fromEntries(COUNTS.map((name) => [`:${name}`, entry[name]])),
          },
        },
      },
    };
  }
}

const COUNTS = [
  'owed',
  'succeeded',
  'exhausted',
  'skipped',
  'duplicates',
] as const satisfies readonly (keyof LedgerCounts)[];

/** What the deliveries themselves say about an hour of an endpoint: the truth that the ledger is checked against. */
export function deliveriesInHour(deliveries: Table) {
  return async (
    { webhookId, generation, hour }: Pick<LedgerEntry, 'webhookId' | 'generation' | 'hour'>,
    shard: number,
    after?: Position,
  ): Promise<{ deliveries: Delivery[]; next?: Position }> => {
    const [from, to] = deliveriesBetween(new Date(hour), endOfHour(hour));
    const { Items = [], LastEvaluatedKey } = await deliveries.client.send(
      new QueryCommand({
        TableName: deliveries.name,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
        ExpressionAttributeValues: {
          ':pk': keys.deliveries(webhookId, generation, shard),
          ':from': from,
          ':to': to,
        },
        ...(after === undefined ? {} : { ExclusiveStartKey: after }),
      }),
    );
    return {
      deliveries: Items.map(deliveryOf),
      ...(LastEvaluatedKey === undefined ? {} : { next: LastEvaluatedKey }),
    };
  };
}
