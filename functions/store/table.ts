import { setTimeout as sleep } from 'node:timers/promises';
import { type AttributeValue, ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { UnreadableRow } from '../domain/due.ts';

export interface Table {
  readonly client: DynamoDBDocumentClient;
  readonly name: string;
  /** Receives unreadable rows, which reads then skip. Without it, an unreadable row fails the read. */
  readonly reportUnreadable?: (row: UnreadableRow) => void;
}

type Row = Record<string, unknown>;

/** Expiry of an item in DynamoDB's unit, seconds since the epoch. */
export const toExpiry = (now: Date, days: number): number => Math.ceil(now.getTime() / 1000) + days * 86_400;

/**
 * @param isDone whether the row that refused the update shows it already: the SDK repeats a request whose
 * response was lost. The update must return that row (`ReturnValuesOnConditionCheckFailure`).
 * @returns whether the condition held
 */
export async function update(
  table: Table,
  update: Omit<UpdateCommandInput, 'TableName'>,
  isDone: (row: Row) => boolean = () => false,
): Promise<boolean> {
  try {
    await table.client.send(new UpdateCommand({ TableName: table.name, ...update }));
    return true;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return error.Item !== undefined && isDone(unmarshall(error.Item));
  }
}

/** Converts the image of a stream record into a row. */
export const parseRow = (image: Record<string, AttributeValue> | undefined): Record<string, unknown> =>
  unmarshall(image ?? {});

/** Reads a row consistently, as it is stored. */
export async function readItem(
  table: Table,
  key: Readonly<Record<string, string>>,
): Promise<Row | undefined> {
  const { Item } = await table.client.send(
    new GetCommand({ TableName: table.name, Key: key, ConsistentRead: true }),
  );
  return Item;
}

/** Condition that attributes still have the values that were read. */
export function buildUnchangedCondition(row: Row, names: readonly string[]) {
  const present = names.filter((name) => row[name] !== undefined);
  return {
    conditions: names.map((name) =>
      row[name] === undefined ? `attribute_not_exists(#${name})` : `#${name} = :${name}WasRead`,
    ),
    names: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    values: Object.fromEntries(present.map((name) => [`:${name}WasRead`, row[name]])),
  };
}

/** Parses rows one by one, so that an unreadable row does not block the others. */
export function parseReadable<T>(
  rows: readonly Row[],
  parse: (row: Row) => T,
): { entries: T[]; unreadable: UnreadableRow[] } {
  const entries: T[] = [];
  const unreadable: UnreadableRow[] = [];
  for (const row of rows)
    try {
      entries.push(parse(row));
    } catch (error) {
      unreadable.push({ pk: String(row.pk), sk: String(row.sk ?? ''), error });
    }
  return { entries, unreadable };
}

/**
 * Parses rows, and skips and reports unreadable ones.
 * @throws the first error when the table has no `reportUnreadable`
 */
export function readRows<T>(
  { reportUnreadable = throwUnreadable }: Pick<Table, 'reportUnreadable'>,
  rows: readonly Row[],
  parse: (row: Row) => T,
): T[] {
  const { entries, unreadable } = parseReadable(rows, parse);
  for (const row of unreadable) reportUnreadable(row);
  return entries;
}

export function throwUnreadable({ error }: UnreadableRow): never {
  throw error;
}

/** Maximum items of a batch read. */
export const BATCH = 100;
/** Responses with unprocessed keys before a batch read fails. */
const MAX_LEFT_OUT = 5;

/**
 * DynamoDB kept returning unprocessed keys, as it does under throttling. Has the name of AWS's own error, so
 * that callers treat it as transient.
 */
export class ReadThrottled extends Error {
  override name = 'ThrottlingException';
}

/**
 * Reads items by key, in no order. Missing items are absent from the result.
 * @param wanted without repetition
 * @param options `attributes`: those to return, all by default
 * @throws ReadThrottled when DynamoDB keeps returning unprocessed keys
 */
export async function readItems(
  table: Table,
  wanted: readonly { readonly pk: string; readonly sk?: string }[],
  { consistent = false, attributes }: { consistent?: boolean; attributes?: readonly string[] } = {},
): Promise<Record<string, unknown>[]> {
  const options = {
    ...(consistent && { ConsistentRead: true }),
    ...(attributes && {
      ProjectionExpression: attributes.map((name) => `#${name}`).join(', '),
      ExpressionAttributeNames: Object.fromEntries(attributes.map((name) => [`#${name}`, name])),
    }),
  };
  const found: Record<string, unknown>[] = [];
  let left: Record<string, unknown>[] = wanted.map((key) => ({ ...key }));
  for (let leftOut = 0; left.length > 0; ) {
    const { Responses = {}, UnprocessedKeys = {} } = await table.client.send(
      new BatchGetCommand({
        RequestItems: { [table.name]: { Keys: left.slice(0, BATCH), ...options } },
      }),
    );
    found.push(...(Responses[table.name] ?? []));
    const unprocessed = UnprocessedKeys[table.name]?.Keys ?? [];
    left = [...unprocessed, ...left.slice(BATCH)];
    if (unprocessed.length === 0) continue;
    leftOut += 1;
    if (leftOut === MAX_LEFT_OUT) throw new ReadThrottled(`${table.name} could not be read in full`);
    await sleep(Math.random() * 25 * 2 ** leftOut);
  }
  return found;
}
