import { createHash } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Delivery } from '../domain/delivery.ts';
import type { ReceiverId } from '../domain/ids.ts';
import { endOfHour, type LedgerAddition, type LedgerCounts, LedgerEntry } from '../domain/ledger.ts';
import { HISTORY_DAYS } from '../domain/redelivery.ts';
import { BATCH, itemsAt } from './batch-get.ts';
import { deliveryOf } from './deliveries.ts';
import type { Position } from './due-index.ts';
import { deliveriesBetween, type Key, keys, markOf } from './keys.ts';
import { expiry, type Table, updated } from './table.ts';

/** Requests for the hours of many endpoints that are made at once. */
const AT_ONCE = 8;

const parse = (row: unknown): LedgerEntry => LedgerEntry.parse(row);

/** A part of a shard of the deliveries' stream, whose changes of one entry are counted together: its first and its last sequence number. */
export interface StreamPart {
  shardId: string;
  first: string;
  last: string;
}

/** Counts by endpoint and hour. Each entry also says how far each shard of the stream has been counted into it. */
export function ledgerStore(ledger: Table) {
  const table = { TableName: ledger.name };

  const entriesAt = async (wanted: readonly Key[]): Promise<LedgerEntry[]> =>
    (await itemsAt(ledger, wanted)).map(parse);

  return {
    /**
     * Adds to the counts of an entry, in one write that also notes how far the shard has been counted into it: a change is counted once
     * however often its record is read.
     * @returns up to where the shard was counted already, when that is not before the part: then nothing is added
     */
    async add(
      { shardId, first, last }: StreamPart,
      entry: LedgerAddition,
    ): Promise<'added' | { countedTo: string }> {
      const { orgId, webhookId, generation, hour } = entry;
      const counted = positionIn(shardId);
      const { ofSandbox } = markOf(entry);
      try {
        await ledger.client.send(
          new UpdateCommand({
            ...table,
            Key: keys.ledger(webhookId, generation, hour),
            UpdateExpression: `SET orgId = :orgId, webhookId = :webhookId, generation = :generation, #hour = :hour, expiresAt = :expiry, #counted = :last${ofSandbox === undefined ? '' : ', ofSandbox = :ofSandbox'} ADD ${COUNTS.map((name) => `${name} :${name}`).join(', ')}`,
            ConditionExpression: 'attribute_not_exists(#counted) OR #counted < :first',
            ExpressionAttributeNames: { '#hour': 'hour', '#counted': counted },
            ExpressionAttributeValues: {
              ':orgId': orgId,
              ':webhookId': webhookId,
              ':generation': generation,
              ':hour': hour,
              ':expiry': expiry(new Date(hour), HISTORY_DAYS),
              ':first': padded(first),
              ':last': padded(last),
              ...(ofSandbox === undefined ? {} : { ':ofSandbox': ofSandbox }),
              ...Object.fromEntries(COUNTS.map((name) => [`:${name}`, entry[name]])),
            },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return 'added';
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        return { countedTo: unpadded(error.Item?.[counted]?.S ?? last) };
      }
    },

    /**
     * What is counted of an endpoint in these hours, in no particular order; hours without deliveries are left out.
     * @throws ReadThrottled when DynamoDB does not give all of it
     */
    read(endpoint: ReceiverId, generation: number, hours: readonly string[]): Promise<LedgerEntry[]> {
      return entriesAt(hours.map((hour) => keys.ledger(endpoint, generation, hour)));
    },

    /** The same of several endpoints, in as few requests, some of them at once. */
    async readAll(
      endpoints: readonly ReceiverId[],
      generation: number,
      hours: readonly string[],
    ): Promise<LedgerEntry[]> {
      const all = endpoints.flatMap((endpoint) =>
        hours.map((hour) => keys.ledger(endpoint, generation, hour)),
      );
      const share = Math.ceil(all.length / BATCH / AT_ONCE) * BATCH;
      const parts = Array.from({ length: AT_ONCE }, (_, lane) => all.slice(lane * share, (lane + 1) * share));
      return (await Promise.all(parts.map(entriesAt))).flat();
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
}

/** Sequence numbers have up to 40 digits; padded, their order as text is their order. */
const padded = (sequence: string): string => sequence.padStart(40, '0');
const unpadded = (sequence: string): string => BigInt(sequence).toString();

/** The attribute that says how far a shard has been counted: its name is short, because an endpoint's deliveries come by several shards. */
const positionIn = (shardId: string): string =>
  `to_${createHash('sha256').update(shardId).digest('hex').slice(0, 12)}`;

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
