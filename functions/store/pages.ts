import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { readRows, type Table } from './table.ts';

/** One page of a listing, newest first. `next` is the identifier to go on after, absent on the last page. */
export interface Page<T> {
  items: T[];
  next?: string;
}

/** Where to begin and how much to give. `after` is the identifier of the last item seen. */
export interface PageRequest {
  limit: number;
  after?: string | undefined;
}

/** What one request read of a partition. */
interface Portion<T> {
  /** At least one, unless the partition ended. */
  items: T[];
  /** Nothing follows. */
  ended: boolean;
  /** Read units that it consumed. */
  units: number;
}

/** Reads up to `limit` items of one partition whose identifiers are below `before`, in descending order. */
export type PartitionReader<T> = (before: string | undefined, limit: number) => Promise<Portion<T>>;

/**
 * Read units after which a page ends early: 2 MB read consistently, which is as much as an answer has room
 * for.
 */
const MOST_UNITS = 512;

/**
 * Merges partitions that are each in descending order of `id` into one page in that order. Identifiers ascend
 * in time, so what is written while somebody pages through comes before the first page and moves nothing.
 * Each partition is read in portions of about its share of the page, and again only when its portion is used
 * up. A page of large rows is short.
 */
export async function newestFirst<T extends { id: string }>(
  partitions: readonly PartitionReader<T>[],
  { limit, after }: PageRequest,
): Promise<Page<T>> {
  const portion = partitions.length === 1 ? limit + 1 : Math.ceil(limit / partitions.length) + 2;
  const heads = await Promise.all(partitions.map((read) => openPartition(read, after, portion)));
  let left = heads.reduce((units, { spent }) => units - spent, MOST_UNITS);
  const items: T[] = [];
  for (;;) {
    const newest = heads.reduce<Partition<T> | undefined>(
      (best, head) =>
        head.items[0] && (!best?.items[0] || head.items[0].id > best.items[0].id) ? head : best,
      undefined,
    );
    const item = newest?.items.shift();
    if (newest === undefined || item === undefined) return { items };
    if (items.length === limit) return { items, next: items.at(-1)?.id ?? item.id };
    items.push(item);
    if (newest.items.length > 0 || newest.ended) continue;
    if (left <= 0) return { items, next: item.id };
    const { spent } = newest;
    await refill(newest, item.id, portion);
    left -= newest.spent - spent;
  }
}

interface Partition<T> {
  read: PartitionReader<T>;
  items: T[];
  ended: boolean;
  /** Read units so far. */
  spent: number;
}

async function openPartition<T extends { id: string }>(
  read: PartitionReader<T>,
  after: string | undefined,
  portion: number,
): Promise<Partition<T>> {
  const partition = { read, items: [], ended: false, spent: 0 };
  await refill(partition, after, portion);
  return partition;
}

async function refill<T>(
  partition: Partition<T>,
  before: string | undefined,
  portion: number,
): Promise<void> {
  const { items, ended, units } = await partition.read(before, portion);
  Object.assign(partition, { items, ended, spent: partition.spent + units });
}

/**
 * Reads a partition whose sort key is the items' identifier, newest first. Consistent, so that a caller who
 * just created something finds it.
 * @param parse gives the entity that a row holds; throws when the row is not one
 */
export function partition<T>(table: Table, pk: string, parse: (row: unknown) => T): PartitionReader<T> {
  return async (before, limit) => {
    let boundary = before;
    let units = 0;
    // A query ends at 1 MB of rows, and may end with none.
    for (;;) {
      const {
        Items = [],
        LastEvaluatedKey,
        ConsumedCapacity,
      } = await table.client.send(
        new QueryCommand({
          TableName: table.name,
          ConsistentRead: true,
          ReturnConsumedCapacity: 'TOTAL',
          ScanIndexForward: false,
          Limit: limit,
          KeyConditionExpression: boundary === undefined ? 'pk = :pk' : 'pk = :pk AND sk < :before',
          ExpressionAttributeValues: {
            ':pk': pk,
            ...(boundary === undefined ? {} : { ':before': boundary }),
          },
        }),
      );
      units += ConsumedCapacity?.CapacityUnits ?? 0;
      boundary = LastEvaluatedKey?.sk;
      const ended = boundary === undefined;
      if (ended || Items.length > 0) return { items: readRows(table, Items, parse), ended, units };
    }
  };
}

/** What a scan has found of one partition. */
interface Scanned<T> {
  items: T[];
  /** How many rows were examined for them. */
  examined: number;
  /** Read units that this consumed. */
  units: number;
  /**
   * The identifier down to which the partition has been examined, itself included. Absent when there is
   * nothing below.
   */
  boundary?: string | undefined;
}

/**
 * Examines up to `rows` rows of one partition whose identifiers are below `before`, in descending order, and
 * gives those that match. One row below `before` at least, where there is one.
 */
export type PartitionScan<T> = (before: string | undefined, rows: number) => Promise<Scanned<T>>;

/**
 * Read units that one page consumes of a partition, about: the last request may take more where rows become
 * larger.
 */
const MOST_MATCHED_UNITS = 60;
/**
 * Each portion is so many times as large as the one before: what is rare is found in few requests, what is
 * not with few rows.
 */
const GROWTH = 4;
/** Read units of a row before any was read: one of 4 KB, read consistently. */
const LARGE_ROW = 1;
const FIRST_EXTRA = 2;
/** The first rows tell how large they are. */
const FIRST_ROWS = 4;

/**
 * Merges partitions as `newestFirst` does, of which only some items match. How much is examined for a page is
 * bounded, so that a page may be short, or empty, and have a `next` all the same: the identifier down to
 * which every partition has been examined. Whoever goes on after it, until there is none, gets each matching
 * item once.
 */
export async function newestMatching<T extends { id: string }>(
  partitions: readonly PartitionScan<T>[],
  { limit, after }: PageRequest,
  mostUnits = MOST_MATCHED_UNITS,
): Promise<Page<T>> {
  const portion = Math.min(FIRST_ROWS, Math.ceil(limit / partitions.length) + FIRST_EXTRA);
  const heads = partitions.map(
    (scan): Head<T> => ({
      scan,
      items: [],
      boundary: after,
      ended: false,
      left: mostUnits,
      portion,
      unitsOfRow: LARGE_ROW,
    }),
  );
  const items: T[] = [];
  while (items.length < limit) {
    await Promise.all(heads.filter(isWanting).map(examine));
    const newest = takeNewest(heads);
    const horizon = getHorizon(heads);
    const item = newest?.items[0];
    if (item === undefined || (horizon !== undefined && item.id < horizon))
      return horizon === undefined ? { items } : { items, next: horizon };
    items.push(item);
    newest?.items.shift();
  }
  // Whether anything more matches is not looked for: the next page says so.
  const last = items.at(-1)?.id;
  return last === undefined || heads.every(isOver) ? { items } : { items, next: last };
}

/** A partition as far as it has been examined for a page. */
interface Head<T> {
  scan: PartitionScan<T>;
  /** Those that match and have not been given yet. */
  items: T[];
  boundary: string | undefined;
  ended: boolean;
  /** Read units that may still be consumed. */
  left: number;
  portion: number;
  /** Read units that a row took so far, on average. */
  unitsOfRow: number;
}

/** Nothing can be said of what comes next of it. */
const isWanting = <T>({ items, ended, left }: Head<T>): boolean => items.length === 0 && !ended && left > 0;

const isOver = <T>({ items, ended }: Head<T>): boolean => items.length === 0 && ended;

async function examine<T>(head: Head<T>): Promise<void> {
  while (isWanting(head)) {
    const rows = Math.max(1, Math.min(head.portion, Math.floor(head.left / head.unitsOfRow)));
    const { items, examined, units, boundary } = await head.scan(head.boundary, rows);
    head.items = items;
    head.left -= units;
    if (examined > 0 && units > 0) head.unitsOfRow = units / examined;
    head.portion *= GROWTH;
    head.boundary = boundary;
    head.ended = boundary === undefined;
  }
}

const takeNewest = <T extends { id: string }>(heads: readonly Head<T>[]): Head<T> | undefined =>
  heads.reduce<Head<T> | undefined>(
    (best, head) => (head.items[0] && (!best?.items[0] || head.items[0].id > best.items[0].id) ? head : best),
    undefined,
  );

/** Below it some partition has not been examined. Undefined when all have been to their ends. */
const getHorizon = <T>(heads: readonly Head<T>[]): string | undefined =>
  heads.reduce<string | undefined>(
    (highest, { ended, boundary }) =>
      ended || boundary === undefined || (highest !== undefined && boundary < highest) ? highest : boundary,
    undefined,
  );
