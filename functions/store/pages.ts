import { all, expression, isOneOf } from '../aws/expression.ts';
import { query, readRows, type Table } from '../aws/table.ts';
import { buildIdBound } from './keys.ts';

/** One page of a listing. */
export interface Page<T> {
  items: T[];
  /** Position after the page, absent on the last one. */
  next?: string;
  /** Position from which later items are read, absent when there can be none. */
  follow?: string;
}

/** `after` is the `next` or `follow` of an earlier page. */
export interface PageRequest {
  limit: number;
  after?: string | undefined;
}

/** Result of one request to a partition. */
interface Portion<T> {
  /** At least one, unless the partition ended. */
  items: T[];
  ended: boolean;
  /** Consumed read units. */
  units: number;
}

/** Reads up to `limit` items of one partition with ids below `before`, in descending order. */
export type PartitionReader<T> = (before: string | undefined, limit: number) => Promise<Portion<T>>;

/**
 * Read units after which a page ends early: 2 MB read consistently, which fits into a response.
 */
const MAX_UNITS = 512;

/**
 * Merges partitions in descending order of `id` into one page. Ids ascend in time, so items written during
 * paging come before the first page. A page of large rows is short.
 */
export async function readNewestFirst<T extends { id: string }>(
  partitions: readonly PartitionReader<T>[],
  { limit, after }: PageRequest,
): Promise<Page<T>> {
  const portion = partitions.length === 1 ? limit + 1 : Math.ceil(limit / partitions.length) + 2;
  const heads = await Promise.all(partitions.map((read) => openPartition(read, after, portion)));
  let left = heads.reduce((units, { spent }) => units - spent, MAX_UNITS);
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
  /** Consumed read units. */
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
 * Reads a partition whose sort key is the items' id, newest first and consistently, so that callers find what
 * they just created.
 * @param parse throws when a row is invalid
 */
export function partitionReader<T>(table: Table, pk: string, parse: (row: unknown) => T): PartitionReader<T> {
  return async (before, limit) => {
    let boundary = before;
    let units = 0;
    // A query ends at 1 MB of rows and may return none.
    for (;;) {
      const isBefore = boundary === undefined ? undefined : expression`sk < ${boundary}`;
      const where = all(expression`pk = ${pk}`, isBefore);
      const page = await query(table, { where, newestFirst: true, limit });
      units += page.units ?? 0;
      boundary = page.next?.sk as string | undefined;
      const ended = boundary === undefined;
      if (ended || page.rows.length > 0) return { items: readRows(table, page.rows, parse), ended, units };
    }
  };
}

interface Scanned<T> {
  items: T[];
  /** Examined rows. */
  examined: number;
  /** Consumed read units. */
  units: number;
  /** Last examined id. Absent at the end of the partition. */
  boundary?: string | undefined;
}

/**
 * Examines up to `rows` rows of one partition after an id, in the listing's order, and returns those that
 * match. Examines at least one, if there is one.
 */
export type PartitionScan<T> = (after: string | undefined, rows: number) => Promise<Scanned<T>>;

export type Order = 'oldest first' | 'newest first';

/** Rows that a scan returns, by creation time in their ids and by attributes. */
export interface ScanFilter {
  prefix: 'dlv' | 'evt' | 'aud';
  from: Date;
  /** Exclusive. */
  to: Date;
  /** Wanted values by attribute; undefined for all. */
  wanted: Readonly<Record<string, readonly string[] | undefined>>;
  /** Attributes to return; all by default. */
  attributes?: readonly string[];
}

/**
 * Scans a range of a partition whose sort key is the rows' id. The time bounds the query; wanted values
 * filter what it examines. Reads consistently.
 */
export function rangeScan<T>(
  table: Table,
  pk: string,
  { prefix, from, to, wanted, attributes }: ScanFilter,
  parse: (row: unknown) => T,
  order: Order,
): PartitionScan<T> {
  const [first, end] = [buildIdBound(prefix, from), buildIdBound(prefix, to)];
  const conditions = Object.entries(wanted).flatMap(([name, values]) =>
    values === undefined ? [] : [isOneOf(name, values)],
  );
  const filter = conditions.length === 0 ? undefined : all(...conditions);
  const isNewestFirst = order === 'newest first';
  return async (after, rows) => {
    const last = getPredecessor(isNewestFirst && after !== undefined && after < end ? after : end);
    const start = !isNewestFirst && after !== undefined && after > first ? getSuccessor(after) : first;
    if (last < start) return { items: [], examined: 0, units: 0 };
    const page = await query(table, {
      where: expression`pk = ${pk} AND sk BETWEEN ${start} AND ${last}`,
      filter,
      attributes,
      newestFirst: isNewestFirst,
      limit: rows,
    });
    return {
      items: readRows(table, page.rows, parse),
      examined: page.examined,
      // If units are not reported, count each row as a large one.
      units: page.units ?? page.examined,
      boundary: page.next?.sk as string | undefined,
    };
  };
}

/** Largest sort key below `bound`: DynamoDB ranges include their ends. Ids are ASCII. */
const getPredecessor = (bound: string): string =>
  `${bound.slice(0, -1)}${String.fromCharCode(bound.charCodeAt(bound.length - 1) - 1)}~`;

/** Below every id that follows `position`, which is an id or a bound of ids. */
export const getSuccessor = (position: string): string => `${position}!`;

/** Read units that a page may consume per partition. The last request may exceed them. */
const MAX_MATCHED_UNITS = 60;
/** Growth of portions: finds rare matches in few requests, and frequent matches in few rows. */
const GROWTH = 4;
/** Assumed read units of a row before the first read: 4 KB, read consistently. */
const LARGE_ROW = 1;
const FIRST_EXTRA = 2;
/** A small first read, to learn the size of rows. */
const FIRST_ROWS = 4;

/**
 * Merges partitions in order of `id`, where only some items match. Examines a bounded number of rows, so a
 * page may be short or empty and still have a `next`: the id up to which all partitions were examined.
 */
export async function readMatching<T extends { id: string }>(
  partitions: readonly PartitionScan<T>[],
  { limit, after }: PageRequest,
  order: Order,
  mostUnits = MAX_MATCHED_UNITS,
): Promise<Page<T>> {
  const isBefore = (id: string, other: string): boolean =>
    order === 'newest first' ? id > other : id < other;
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
    await Promise.all(heads.filter(needsItems).map(readHead));
    const head = findFirst(heads, isBefore);
    const horizon = getHorizon(heads, isBefore);
    const item = head?.items[0];
    if (item === undefined || (horizon !== undefined && isBefore(horizon, item.id)))
      return horizon === undefined ? { items } : { items, next: horizon };
    items.push(item);
    head?.items.shift();
  }
  // More matches may follow; the next page finds them.
  const last = items.at(-1)?.id;
  return last === undefined || heads.every(isDrained) ? { items } : { items, next: last };
}

/** A partition's examined part. */
interface Head<T> {
  scan: PartitionScan<T>;
  /** Matches that are not on the page yet. */
  items: T[];
  boundary: string | undefined;
  ended: boolean;
  /** Read units left. */
  left: number;
  portion: number;
  /** Average read units per row so far. */
  unitsOfRow: number;
}

/** Whether the next item of the partition is unknown. */
const needsItems = <T>({ items, ended, left }: Head<T>): boolean => items.length === 0 && !ended && left > 0;

const isDrained = <T>({ items, ended }: Head<T>): boolean => items.length === 0 && ended;

async function readHead<T>(head: Head<T>): Promise<void> {
  while (needsItems(head)) {
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

type IsBefore = (id: string, other: string) => boolean;

const findFirst = <T extends { id: string }>(
  heads: readonly Head<T>[],
  isBefore: IsBefore,
): Head<T> | undefined =>
  heads.reduce<Head<T> | undefined>(
    (first, head) =>
      head.items[0] && (!first?.items[0] || isBefore(head.items[0].id, first.items[0].id)) ? head : first,
    undefined,
  );

/**
 * Id after which a partition is not examined yet. Undefined when all partitions were examined to their ends.
 */
const getHorizon = <T>(heads: readonly Head<T>[], isBefore: IsBefore): string | undefined =>
  heads.reduce<string | undefined>(
    (nearest, { ended, boundary }) =>
      ended || boundary === undefined || (nearest !== undefined && isBefore(nearest, boundary))
        ? nearest
        : boundary,
    undefined,
  );
