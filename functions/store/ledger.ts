import { createHash } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { paginateQuery, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { type AttemptDurations, DURATION_CLASSES } from '../domain/attempt-durations.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { ReceiverId } from '../domain/ids.ts';
import {
  type HourRange,
  type LedgerAddition,
  type LedgerCounts,
  LedgerEntry,
  toEndOfHour,
} from '../domain/ledger.ts';
import { HISTORY_DAYS } from '../domain/redelivery.ts';
import { parseDelivery } from './deliveries.ts';
import type { Position } from './due-index.ts';
import { buildIdBounds, buildSandboxMark, keys } from './keys.ts';
import { BATCH, readItems, readRows, type Table, toExpiry, update } from './table.ts';

/** Endpoints per page of a ledger audit: the maximum of a batch read. */
const ACTIVE_PAGE = BATCH;
/** Pairs of endpoint and day that an instance caches as recorded. */
const MAX_NOTED = 10_000;

const parse = (row: Record<string, unknown>): LedgerEntry =>
  LedgerEntry.parse({ ...row, durations: readDurations(row) });

/** Attributes of their own, because an addition to a map would need the map to exist. */
const buildDurationAttribute = (number: string): string => `t${number}`;

/** @returns undefined in entries without counted durations */
function readDurations(row: Readonly<Record<string, unknown>>): AttemptDurations | undefined {
  const counted = DURATION_CLASSES.flatMap((number) => {
    const count = row[buildDurationAttribute(number)];
    return typeof count === 'number' ? [[number, count] as const] : [];
  });
  return counted.length === 0 ? undefined : Object.fromEntries(counted);
}

/** What an entry adds, by attribute. */
const listAdditions = (entry: LedgerAddition): [name: string, count: number][] => [
  ...COUNTS.map((name): [string, number] => [name, entry[name]]),
  ...Object.entries(entry.durations ?? {}).map(([number, count]): [string, number] => [
    buildDurationAttribute(number),
    count,
  ]),
];

/** Records that an endpoint has counts on a day. */
const Active = z.pick(LedgerEntry, { webhookId: true, generation: true });

/** A part of a shard of the delivery stream, by its first and last sequence numbers. */
export interface StreamPart {
  shardId: string;
  first: string;
  last: string;
}

/**
 * Counts by endpoint and hour. Each entry has, per shard of the stream, the position up to which it counts.
 */
export function ledgerStore(ledger: Table) {
  const table = { TableName: ledger.name };

  const noted = new Set<string>();

  /** Records that an endpoint has counts on a day, once per instance; repetitions are harmless. */
  async function noteActive(entry: LedgerAddition): Promise<void> {
    const { orgId, webhookId, generation, hour } = entry;
    const key = keys.active(webhookId, generation, hour);
    const name = `${key.pk}/${key.sk}`;
    if (noted.has(name)) return;
    const { ofSandbox } = buildSandboxMark(entry);
    await ledger.client.send(
      new UpdateCommand({
        ...table,
        Key: key,
        UpdateExpression: `SET orgId = :orgId, webhookId = :webhookId, generation = :generation, expiresAt = :expiry${ofSandbox === undefined ? '' : ', ofSandbox = :ofSandbox'}`,
        ExpressionAttributeValues: {
          ':orgId': orgId,
          ':webhookId': webhookId,
          ':generation': generation,
          // One day longer than the entries: the expiry is that of the day's first recorded hour.
          ':expiry': toExpiry(new Date(hour), HISTORY_DAYS + 1),
          ...(ofSandbox === undefined ? {} : { ':ofSandbox': ofSandbox }),
        },
      }),
    );
    if (noted.size >= MAX_NOTED) noted.clear();
    noted.add(name);
  }

  return {
    /**
     * Adds to an entry's counts and records the shard's position in one write, so that a stream record that
     * is read twice counts once.
     * @returns the recorded position, when the part was counted before and nothing is added
     */
    async add(
      { shardId, first, last }: StreamPart,
      entry: LedgerAddition,
    ): Promise<'added' | { countedTo: string }> {
      const { orgId, webhookId, generation, hour } = entry;
      const counted = buildPositionAttribute(shardId);
      const additions = listAdditions(entry);
      const { ofSandbox } = buildSandboxMark(entry);
      // Before the counts, so that a ledger audit finds every counted entry.
      await noteActive(entry);
      try {
        await ledger.client.send(
          new UpdateCommand({
            ...table,
            Key: keys.ledger(webhookId, generation, hour),
            UpdateExpression: `SET orgId = :orgId, webhookId = :webhookId, generation = :generation, #hour = :hour, expiresAt = :expiry, #counted = :last${ofSandbox === undefined ? '' : ', ofSandbox = :ofSandbox'} ADD ${additions.map(([name]) => `${name} :${name}`).join(', ')}`,
            ConditionExpression: 'attribute_not_exists(#counted) OR #counted < :first',
            ExpressionAttributeNames: { '#hour': 'hour', '#counted': counted },
            ExpressionAttributeValues: {
              ':orgId': orgId,
              ':webhookId': webhookId,
              ':generation': generation,
              ':hour': hour,
              ':expiry': toExpiry(new Date(hour), HISTORY_DAYS),
              ':first': packSequence(first),
              ':last': packSequence(last),
              ...(ofSandbox === undefined ? {} : { ':ofSandbox': ofSandbox }),
              ...Object.fromEntries(additions.map(([name, count]) => [`:${name}`, count])),
            },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return 'added';
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        const position = error.Item?.[counted]?.S;
        return { countedTo: position === undefined ? last : unpackSequence(position) };
      }
    },

    /** Reads an endpoint's counts in a range of hours, in no order, without hours that have no deliveries. */
    async read(endpoint: ReceiverId, generation: number, { first, last }: HourRange): Promise<LedgerEntry[]> {
      const pages = paginateQuery(
        { client: ledger.client },
        {
          ...table,
          KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
          ExpressionAttributeValues: {
            ':pk': keys.ledgerOf(endpoint, generation),
            ':first': first,
            ':last': last,
          },
        },
      );
      const entries: LedgerEntry[] = [];
      for await (const { Items = [] } of pages) entries.push(...readRows(ledger, Items, parse));
      return entries;
    },

    /** Reads the entries of an hour, one page of one shard at a time. */
    async inHour(
      hour: string,
      shard: number,
      after?: Position,
    ): Promise<{ entries: LedgerEntry[]; next?: Position }> {
      const { Items = [], LastEvaluatedKey } = await ledger.client.send(
        new QueryCommand({
          ...table,
          Limit: ACTIVE_PAGE,
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': keys.activeInDay(hour, shard) },
          ...(after === undefined ? {} : { ExclusiveStartKey: after }),
        }),
      );
      const active = readRows(ledger, Items, (row) => Active.parse(row));
      const rows = await readItems(
        ledger,
        active.map(({ webhookId, generation }) => keys.ledger(webhookId, generation, hour)),
      );
      return {
        entries: readRows(ledger, rows, parse),
        ...(LastEvaluatedKey === undefined ? {} : { next: LastEvaluatedKey }),
      };
    },

    /** Corrects the counts unless they changed since they were read. */
    async correct(seen: LedgerEntry, counts: LedgerCounts): Promise<'corrected' | 'changed'> {
      const names = COUNTS.filter((name) => name in counts);
      const isUnchanged = await update(ledger, {
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
      return isUnchanged ? 'corrected' : 'changed';
    },
  };
}

/*
 * Positions are short, because an entry has one of each shard that it counts, and is written for one unit up
 * to 1 KB.
 */

/** Digits to base 36, of which 26 hold the maximum of 40 decimal ones: text order is numeric order. */
const RADIX = 36;
const packSequence = (sequence: string): string => BigInt(sequence).toString(RADIX).padStart(26, '0');
const unpackSequence = (packed: string): string =>
  [...packed]
    .reduce((sum, digit) => sum * BigInt(RADIX) + BigInt(Number.parseInt(digit, RADIX)), 0n)
    .toString();

const buildPositionAttribute = (shardId: string): string =>
  `to_${createHash('sha256').update(shardId).digest('base64url').slice(0, 8)}`;

const COUNTS = [
  'owed',
  'succeeded',
  'exhausted',
  'skipped',
  'duplicates',
] as const satisfies readonly (keyof LedgerCounts)[];

/** The deliveries of an endpoint and hour, against which the ledger is checked. */
export function deliveriesInHour(deliveries: Table) {
  return async (
    { webhookId, generation, hour }: Pick<LedgerEntry, 'webhookId' | 'generation' | 'hour'>,
    shard: number,
    after?: Position,
  ): Promise<{ deliveries: Delivery[]; isComplete: boolean; next?: Position }> => {
    const [from, to] = buildIdBounds(new Date(hour), toEndOfHour(hour));
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
    const readable = readRows(deliveries, Items, parseDelivery);
    return {
      deliveries: readable,
      isComplete: readable.length === Items.length,
      ...(LastEvaluatedKey === undefined ? {} : { next: LastEvaluatedKey }),
    };
  };
}
