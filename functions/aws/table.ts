import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AttributeValue,
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  TransactionCanceledException,
  TransactionConflictException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { all, assign, attribute, type Expression, expression, Placeholders } from './expression.ts';

/*
 * The only file that sends requests to tables. It knows DynamoDB and nothing of what is stored: values go in
 * and come out as JavaScript has them, a refused condition is a result and no error, and a conflict with a
 * transaction is tried again.
 */

export type Row = Record<string, unknown>;
export interface Key {
  readonly pk: string;
  readonly sk?: string;
}

/** A row that cannot be parsed. */
export interface UnreadableRow {
  pk: string;
  sk: string;
  error: unknown;
}

export interface Table {
  readonly client: Pick<DynamoDBClient, 'send'>;
  readonly name: string;
  /** Receives unreadable rows, which reads then skip. Without it, an unreadable row fails the read. */
  readonly reportUnreadable?: (row: UnreadableRow) => void;
}

type Attributes = Record<string, AttributeValue>;

const toAttributes = (row: object): Attributes => marshall(row, { removeUndefinedValues: true });
const toRow = (attributes: Attributes | undefined): Row | undefined =>
  attributes === undefined ? undefined : unmarshall(attributes);
const toRows = (items: Attributes[] = []): Row[] => items.map((attributes) => unmarshall(attributes));

/** Converts the image of a stream record into a row. */
export const parseRow = (image: Attributes | undefined): Row => unmarshall(image ?? {});

/** Expiry of an item in DynamoDB's unit, seconds since the epoch. */
export const toExpiry = (now: Date, days: number): number => Math.ceil(now.getTime() / 1000) + days * 86_400;

/** @param consistent half the price if not; then the row may be about a second old */
export async function get(
  { client, name }: Table,
  key: Key,
  { consistent = true } = {},
): Promise<Row | undefined> {
  const { Item } = await client.send(
    new GetItemCommand({ TableName: name, Key: toAttributes(key), ConsistentRead: consistent }),
  );
  return toRow(Item);
}

interface ReadOptions {
  consistent?: boolean;
  /** Those to return; all by default. */
  attributes?: readonly string[] | undefined;
}

const buildProjection = (attributes: readonly string[], placeholders: Placeholders) =>
  attributes.map((name) => placeholders.text(expression`${attribute(name)}`)).join(', ');

/** Keys of a table to read, without repetition. */
interface KeysToRead extends ReadOptions {
  readonly table: Pick<Table, 'name'>;
  readonly keys: readonly Key[];
}

/** By tables: the rows that exist, in no order, and the keys that DynamoDB left out under throttling. */
export interface BatchRead {
  rows: ReadonlyMap<string, Row[]>;
  unread: ReadonlyMap<string, Row[]>;
  /** Consumed read units. */
  units: number;
}

/** Maximum items of a batch read. */
export const BATCH = 100;
/** Responses with unprocessed keys, which the SDK does not ask for again, before a read ends. */
const MAX_LEFT_OUT = 5;

/** Reads up to 100 items of several tables by key, in one request when nothing is throttled. */
export async function getBatch(
  { client }: Pick<Table, 'client'>,
  reads: readonly KeysToRead[],
): Promise<BatchRead> {
  const rows = new Map<string, Row[]>();
  let units = 0;
  let RequestItems = Object.fromEntries(
    reads.map(({ table, keys, consistent = false, attributes }) => {
      const placeholders = new Placeholders();
      return [
        table.name,
        {
          Keys: keys.map(toAttributes),
          ...(consistent && { ConsistentRead: true }),
          ...(attributes && {
            ProjectionExpression: buildProjection(attributes, placeholders),
            ...placeholders.maps,
          }),
        },
      ];
    }),
  );
  for (let leftOut = 0; ; ) {
    const {
      Responses = {},
      UnprocessedKeys = {},
      ConsumedCapacity = [],
    } = await client.send(new BatchGetItemCommand({ RequestItems, ReturnConsumedCapacity: 'TOTAL' }));
    for (const { CapacityUnits = 0 } of ConsumedCapacity) units += CapacityUnits;
    for (const [name, items] of Object.entries(Responses))
      rows.set(name, [...(rows.get(name) ?? []), ...toRows(items)]);
    const unread = Object.entries(UnprocessedKeys);
    leftOut += 1;
    if (unread.length === 0 || leftOut === MAX_LEFT_OUT)
      return { rows, unread: new Map(unread.map(([name, { Keys }]) => [name, toRows(Keys)])), units };
    RequestItems = UnprocessedKeys as typeof RequestItems;
    await sleep(Math.random() * 25 * 2 ** leftOut);
  }
}

/**
 * DynamoDB kept leaving out a part, as it does under throttling. Has the name of AWS's own error, so that
 * callers treat it as transient.
 */
export class Throttled extends Error {
  override name = 'ThrottlingException';
}

/**
 * Reads items by key, in no order. Missing items are absent from the result.
 * @param keys without repetition
 * @throws Throttled when DynamoDB keeps returning unprocessed keys
 */
export async function getMany(table: Table, keys: readonly Key[], options: ReadOptions = {}): Promise<Row[]> {
  const all: Row[] = [];
  for (let start = 0; start < keys.length; start += BATCH) {
    const { rows, unread } = await getBatch(table, [
      { table, keys: keys.slice(start, start + BATCH), ...options },
    ]);
    if (unread.size > 0) throw new Throttled(`${table.name} could not be read in full`);
    all.push(...(rows.get(table.name) ?? []));
  }
  return all;
}

/**
 * Reads items in one transaction, for twice the price. Where a transaction is writing them it waits for all
 * of its writes, while other reads may see some of them (Developer Guide, Isolation levels for DynamoDB
 * transactions).
 * @param keys up to 100 of items of 4 MB together, without repetition
 * @returns items in no order; missing ones are absent
 * @throws Contended after six conflicts
 */
export async function getInTransaction({ client, name }: Table, keys: readonly Key[]): Promise<Row[]> {
  const TransactItems = keys.map((key) => ({ Get: { TableName: name, Key: toAttributes(key) } }));
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    try {
      const { Responses = [] } = await client.send(new TransactGetItemsCommand({ TransactItems }));
      return toRows(Responses.map(({ Item }) => Item).filter((item) => item !== undefined));
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
    if (attempt < MAX_TRIES) await backoff(attempt);
  }
  throw new Contended(`a read of ${keys.length} items collided with writes ${MAX_TRIES} times`);
}

/** A range of a partition. */
export interface Query extends ReadOptions {
  index?: string;
  /** Condition on the keys. */
  where: Expression;
  /** Rows that do not meet it are read and not returned. */
  filter?: Expression | undefined;
  newestFirst?: boolean;
  /** Rows to examine. */
  limit?: number | undefined;
  /** Key after which the page begins: `next` of the page before. */
  after?: Row | undefined;
}

export interface Rows {
  rows: Row[];
  /** Key of the last examined row; absent at the end. */
  next?: Row;
  /** Rows that were read, which determine the cost. */
  examined: number;
  /** Consumed read units; undefined when DynamoDB does not report them. */
  units?: number;
}

/**
 * Reads a page, which ends at 1 MB at the latest and may have no rows although others follow. Consistent by
 * default, except an index, which never is.
 */
export async function query(
  { client, name }: Table,
  {
    index,
    where,
    filter,
    attributes,
    newestFirst = false,
    limit,
    after,
    consistent = index === undefined,
  }: Query,
): Promise<Rows> {
  const placeholders = new Placeholders();
  const { Items, ScannedCount, LastEvaluatedKey, ConsumedCapacity } = await client.send(
    new QueryCommand({
      TableName: name,
      IndexName: index,
      KeyConditionExpression: placeholders.text(where),
      FilterExpression: filter && placeholders.text(filter),
      ProjectionExpression: attributes && buildProjection(attributes, placeholders),
      ...toMaps(placeholders),
      ScanIndexForward: !newestFirst,
      Limit: limit,
      ExclusiveStartKey: after && toAttributes(after),
      ConsistentRead: consistent,
      ReturnConsumedCapacity: 'TOTAL',
    }),
  );
  const units = ConsumedCapacity?.CapacityUnits;
  return {
    rows: toRows(Items),
    examined: ScannedCount ?? 0,
    ...(LastEvaluatedKey && { next: unmarshall(LastEvaluatedKey) }),
    ...(units !== undefined && { units }),
  };
}

/** All rows of a range, of as many pages as it has. */
export async function queryAll(table: Table, range: Query): Promise<Row[]> {
  const all: Row[] = [];
  let after = range.after;
  do {
    const { rows, next } = await query(table, { ...range, after });
    all.push(...rows);
    after = next;
  } while (after !== undefined);
  return all;
}

/** @param placeholders of texts that were all built before */
function toMaps(placeholders: Placeholders) {
  const { ExpressionAttributeValues: values, ...names } = placeholders.maps;
  return { ...names, ...(values && { ExpressionAttributeValues: toAttributes(values) }) };
}

/** A condition of a write. */
export interface Condition {
  /** Without it, the write always takes effect. */
  if?: Expression | undefined;
}

/** A change of one row, which need not exist unless the condition says so. */
export interface RowChange extends Condition {
  /** Such as `SET attempts = ${1} REMOVE lease`. */
  update: Expression;
}

/** A write as DynamoDB takes it, but for its values. */
interface Write {
  TableName: string;
  Key?: Key;
  Item?: Row;
  UpdateExpression?: string;
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Row;
}

export function buildWrite(
  { name: TableName }: Pick<Table, 'name'>,
  target: { Key: Key } | { Item: Row },
  { update: change, if: condition }: Partial<RowChange>,
): Write {
  const placeholders = new Placeholders();
  return {
    TableName,
    ...target,
    ...(change && { UpdateExpression: placeholders.text(change) }),
    ...(condition?.isEmpty === false && { ConditionExpression: placeholders.text(condition) }),
    ...placeholders.maps,
  };
}

const marshallWrite = ({ Key, Item, ExpressionAttributeValues: values, ...write }: Write) => ({
  ...write,
  ...(values && { ExpressionAttributeValues: toAttributes(values) }),
  Key: Key && toAttributes(Key),
  Item: Item && toAttributes(Item),
});

/**
 * `row` of a done write: as the write asked for it. Of a refused one: the row that refused it, if there is
 * one.
 */
export type WriteResult = { kind: 'done' | 'refused'; row: Row | undefined };

interface UpdateTerms extends RowChange {
  /** Row to return: none by default. */
  returns?: 'new' | 'old';
  /**
   * Whether the row that refused the update shows it already: the SDK repeats a request whose response was
   * lost.
   */
  isDone?: (row: Row) => boolean;
}

/** @throws TransactionConflictException after six conflicts */
export function update(
  table: Table,
  key: Key,
  { returns, isDone, ...change }: UpdateTerms,
): Promise<WriteResult> {
  const command = new UpdateItemCommand({
    ...marshallWrite(buildWrite(table, { Key: key }, change)),
    ReturnValues: returns === undefined ? 'NONE' : `ALL_${returns === 'new' ? 'NEW' : 'OLD'}`,
    ReturnValuesOnConditionCheckFailure: change.if && 'ALL_OLD',
  });
  return retry(() => table.client.send(command), isDone);
}

/** @throws TransactionConflictException after six conflicts */
export function put(table: Table, row: Row, condition: Condition = {}): Promise<WriteResult> {
  const command = new PutItemCommand(marshallWrite(buildWrite(table, { Item: row }, condition)));
  return retry(() => table.client.send(command));
}

/** @throws TransactionConflictException after six conflicts */
export function remove(table: Table, key: Key, condition: Condition = {}): Promise<WriteResult> {
  const command = new DeleteItemCommand(marshallWrite(buildWrite(table, { Key: key }, condition)));
  return retry(() => table.client.send(command));
}

async function retry(
  send: () => Promise<{ Attributes?: Attributes | undefined }>,
  isDone: (row: Row) => boolean = () => false,
): Promise<WriteResult> {
  for (let tried = 1; ; tried += 1)
    try {
      const { Attributes } = await send();
      return { kind: 'done', row: toRow(Attributes) };
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) {
        const row = toRow(error.Item);
        return { kind: row !== undefined && isDone(row) ? 'done' : 'refused', row };
      }
      if (!(error instanceof TransactionConflictException) || tried === MAX_TRIES) throw error;
      await backoff(tried);
    }
}

/** Maximum items of a batch write. */
const WRITE_BATCH = 25;

/** @throws Throttled when DynamoDB does not delete all of them */
export async function removeMany({ client, name }: Table, keys: readonly Key[]): Promise<void> {
  const removeBatch = async (batch: readonly Key[]): Promise<void> => {
    let RequestItems = { [name]: batch.map((key) => ({ DeleteRequest: { Key: toAttributes(key) } })) };
    for (let leftOut = 0; ; ) {
      const { UnprocessedItems = {} } = await client.send(new BatchWriteItemCommand({ RequestItems }));
      if (Object.keys(UnprocessedItems).length === 0) return;
      leftOut += 1;
      if (leftOut > MAX_LEFT_OUT) throw new Throttled(`rows of ${name} could not be deleted`);
      RequestItems = UnprocessedItems as typeof RequestItems;
      await sleep(Math.random() * 50 * 2 ** leftOut);
    }
  };
  const count = Math.ceil(keys.length / WRITE_BATCH);
  await Promise.all(
    Array.from({ length: count }, (_, batch) =>
      removeBatch(keys.slice(batch * WRITE_BATCH, (batch + 1) * WRITE_BATCH)),
    ),
  );
}

/** Permission to work on a row until a time, in milliseconds since the epoch. */
export interface Lease {
  token: string;
  until: number;
}

/** No worker has the row's lease. */
export const isFree = (now: Date, name = 'lease'): Expression =>
  expression`(attribute_not_exists(${attribute(name)}) OR ${attribute(name)}.#until <= ${now.getTime()})`;

/** The lease was neither ended nor taken by another worker. */
export const isHeld = ({ token }: Pick<Lease, 'token'>, name = 'lease'): Expression =>
  expression`${attribute(name)}.#token = ${token}`;

interface LeaseTerms extends Condition {
  now: Date;
  seconds: number;
  /** Attribute of the lease. */
  name?: string;
  /** Further values in the lease. */
  also?: Row;
  /** Further attributes to set. */
  set?: Row;
  /** Additions, such as `attempts ${1}`. */
  add?: Expression;
  /** The row before or, by default, after it. */
  returns?: 'new' | 'old';
}

export type LeaseResult =
  | { kind: 'leased'; lease: Lease; row: Row }
  | { kind: 'refused'; row: Row | undefined };

/**
 * Takes the lease of a row, in one conditional write, so that one of several callers has it. When the SDK had
 * to repeat the request, because its response was lost, `row` is the one with the lease.
 */
export async function lease(
  table: Table,
  key: Key,
  { now, seconds, name = 'lease', also, set, add, if: condition, returns = 'new' }: LeaseTerms,
): Promise<LeaseResult> {
  const taken = { ...also, token: randomUUID(), until: now.getTime() + seconds * 1000 };
  const assigned = expression`SET ${assign({ [name]: taken, ...set })}`;
  const { kind, row } = await update(table, key, {
    update: add === undefined ? assigned : expression`${assigned} ADD ${add}`,
    if: all(condition, isFree(now, name)),
    returns,
    isDone: (stored) => Object(stored[name]).token === taken.token,
  });
  return kind === 'done' ? { kind: 'leased', lease: taken, row: row ?? {} } : { kind: 'refused', row };
}

/** Ends a lease, unless another worker has taken it. */
export const release = (table: Table, key: Key, held: Lease, name = 'lease'): Promise<WriteResult> =>
  update(table, key, { update: expression`REMOVE ${attribute(name)}`, if: isHeld(held, name) });

export const IS_NEW = expression`attribute_not_exists(pk)`;
export const EXISTS = expression`attribute_exists(pk)`;

/** A write of a transaction, or a condition of one. */
export interface TransactionWrite {
  readonly write: Partial<Record<'Put' | 'Update' | 'Delete' | 'ConditionCheck', Write>>;
  /** Left out when it conflicts with another write, or its condition fails. */
  readonly isOptional?: boolean;
}

/** All attempts of the transaction conflicted with other writers. Retry later. */
export class Contended extends Error {
  override name = 'Contended';
}

/**
 * Commits all changes or none. On a conflict with another transaction it retries after a random wait, with
 * the same request token, so that changes are not applied twice, or without the optional changes that are in
 * its way.
 * @returns the first change whose condition failed; undefined when all were committed
 * @throws Contended after six conflicts
 */
export async function transact<C extends TransactionWrite>(
  client: Table['client'],
  changes: readonly C[],
  wait: (attempt: number) => Promise<unknown> = backoff,
): Promise<C | undefined> {
  const ClientRequestToken = randomUUID();
  const TransactItems = changes.map(
    ({ write: { Put, Update, Delete, ConditionCheck } }) =>
      ({
        ...(Put && { Put: marshallWrite(Put) }),
        ...(Update && { Update: marshallWrite(Update) }),
        ...(Delete && { Delete: marshallWrite(Delete) }),
        ...(ConditionCheck && { ConditionCheck: marshallWrite(ConditionCheck) }),
      }) as TransactWriteItem,
  );
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    try {
      await client.send(new TransactWriteItemsCommand({ TransactItems, ClientRequestToken }));
      return undefined;
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons ?? [];
      const remaining = changes.filter(
        ({ isOptional }, index) => !(isOptional && IN_THE_WAY.has(reasons[index]?.Code ?? '')),
      );
      if (remaining.length < changes.length) return transact(client, remaining, wait);
      // A failed condition is final, even if another write conflicted.
      const refused = changes[reasons.findIndex(({ Code }) => Code === 'ConditionalCheckFailed')];
      if (refused !== undefined) return refused;
      if (!isConflict(error)) throw error;
    }
    if (attempt < MAX_TRIES) await wait(attempt);
  }
  throw new Contended(`a transaction of ${changes.length} writes collided with others ${MAX_TRIES} times`);
}

const MAX_TRIES = 6;
const IN_THE_WAY = new Set(['TransactionConflict', 'ConditionalCheckFailed']);
const RETRYABLE = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);
const isConflict = (error: unknown): boolean =>
  error instanceof TransactionCanceledException &&
  (error.CancellationReasons ?? []).some(({ Code = '' }) => RETRYABLE.has(Code));

/** Full jitter: a random part of 25 ms, 50 ms … 400 ms. */
const backoff = (attempt: number): Promise<unknown> => sleep(Math.random() * 25 * 2 ** (attempt - 1));

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
