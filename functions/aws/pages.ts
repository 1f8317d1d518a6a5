import { all, type Expression, expression, isOneOf } from './expression.ts';
import { buildIdBound } from './ids.ts';
import { getMany, type Key, query, readRows, type Table } from './table.ts';

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

export type Order = 'oldest first' | 'newest first';

/** A listing of rows whose sort key is their id. All conditions must hold. */
export interface Listing<T> {
  /** Throws when a row is invalid. */
  parse(row: unknown): T;
  /** Newest first by default. */
  order?: Order;
  /** Creation times in the ids; `to` is exclusive. They bound the query. */
  times?: { prefix: 'dlv' | 'evt' | 'aud' | 'cnv'; from: Date; to: Date } | undefined;
  /** Wanted values by attribute, undefined for all. They filter what the query examines. */
  wanted?: Readonly<Record<string, readonly string[] | undefined>>;
  /** A further condition, empty for all rows, which filters likewise. */
  filter?: Expression;
  /** Attributes to return; all by default. */
  attributes?: readonly string[];
}

/**
 * Merges partitions in order of `id` into one page, read consistently, so that callers find what they just
 * created. Reads a bounded number of units: a page of large rows is short, and with `wanted` values it may
 * even be empty and still have a `next`, the id up to which all partitions were examined. Ids ascend in time,
 * so items written during paging come before the first page of what is listed newest first.
 */
export const readPage = <T extends { id: string }>(
  table: Table,
  partitions: readonly string[],
  page: PageRequest,
  listing: Listing<T>,
): Promise<Page<T>> => {
  const { order, wanted = {}, filter } = listing;
  const scans = partitions.map((pk) => scanPartition(table, pk, listing));
  const isFiltered =
    filter?.isEmpty === false || Object.values(wanted).some((values) => values !== undefined);
  return mergeScans(scans, page, { order, isFiltered });
};

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
export type Scan<T> = (after: string | undefined, rows: number) => Promise<Scanned<T>>;

export function scanPartition<T>(
  table: Table,
  pk: string,
  { parse, order, times, wanted = {}, filter, attributes }: Listing<T>,
): Scan<T> {
  const [first, end] = times
    ? [buildIdBound(times.prefix, times.from), buildIdBound(times.prefix, times.to)]
    : [BEFORE_IDS, BEHIND_IDS];
  const conditions = all(
    ...Object.entries(wanted).map(([name, values]) => values && isOneOf(name, values)),
    filter,
  );
  const newestFirst = order !== 'oldest first';
  return async (after, rows) => {
    const last = getPredecessor(newestFirst && after !== undefined && after < end ? after : end);
    const start = !newestFirst && after !== undefined && after > first ? getSuccessor(after) : first;
    if (last < start) return { items: [], examined: 0, units: 0 };
    const page = await query(table, {
      where: expression`pk = ${pk} AND sk BETWEEN ${start} AND ${last}`,
      filter: conditions.isEmpty ? undefined : conditions,
      attributes,
      newestFirst,
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

/**
 * Reads the rows of some ids, consistently. Ids without a row are left out.
 * @param ids without repetition
 * @param listing.isWanted of the rows that were read
 */
export function readPageOf<T extends { id: string }>(
  table: Table,
  ids: readonly T['id'][],
  page: PageRequest,
  {
    order,
    toKey,
    parse,
    isWanted,
  }: Pick<Listing<T>, 'parse'> & {
    order: Order;
    toKey(id: T['id']): Key;
    isWanted(row: T): boolean;
  },
): Promise<Page<T>> {
  const ascending = ids.toSorted();
  const inOrder = order === 'oldest first' ? ascending : ascending.toReversed();
  const scan: Scan<T> = async (after, most) => {
    const rest =
      after === undefined
        ? inOrder
        : inOrder.filter((id) => (order === 'oldest first' ? id > after : id < after));
    const examined = rest.slice(0, most);
    const rows = await getMany(table, examined.map(toKey), { consistent: true });
    const byId = new Map(readRows(table, rows, parse).map((row) => [row.id, row]));
    return {
      items: examined.flatMap((id) => byId.get(id) ?? []).filter(isWanted),
      examined: examined.length,
      units: rows.reduce((sum, row) => sum + Math.ceil(JSON.stringify(row).length / BYTES_OF_A_UNIT), 0),
      boundary: examined.length < rest.length ? examined.at(-1) : undefined,
    };
  };
  return mergeScans([scan], page, { order, isFiltered: true, maxUnits: MAX_UNITS });
}

/** Read in one unit when read consistently (Developer Guide, Read/write capacity). */
const BYTES_OF_A_UNIT = 4096;

/** Bounds of all ids, which are ASCII. */
const [BEFORE_IDS, BEHIND_IDS] = [' ', '~'];

/** Largest sort key below `bound`: DynamoDB ranges include their ends. */
const getPredecessor = (bound: string): string =>
  `${bound.slice(0, -1)}${String.fromCharCode(bound.charCodeAt(bound.length - 1) - 1)}~`;

/** Below every id that follows `position`, which is an id or a bound of ids. */
const getSuccessor = (position: string): string => `${position}!`;

/** Read units of a page that all rows are on: 2 MB read consistently, which fits into a response. */
const MAX_UNITS = 512;
/** Read units that a filtered page may consume per partition. The last request may exceed them. */
const MAX_FILTERED_UNITS = 60;
/** Growth of a filter's portions: finds rare matches in few requests, and frequent matches in few rows. */
const GROWTH = 4;
/** A small first read with a filter, to learn the size of rows. */
const FIRST_ROWS = 4;
/** Assumed read units of a row before the first read: 4 KB, read consistently. */
const LARGE_ROW = 1;

/** Reads a page from partitions; see {@link readPage}. */
export async function mergeScans<T extends { id: string }>(
  scans: readonly Scan<T>[],
  { limit, after }: PageRequest,
  {
    order = 'newest first',
    isFiltered = false,
    maxUnits = isFiltered ? MAX_FILTERED_UNITS : MAX_UNITS / scans.length,
  }: { order?: Order | undefined; isFiltered?: boolean; maxUnits?: number } = {},
): Promise<Page<T>> {
  const isBefore: IsBefore = (id, other) => (order === 'newest first' ? id > other : id < other);
  // A row beyond the page says whether another page follows.
  const share = scans.length === 1 ? limit + 1 : Math.ceil(limit / scans.length) + 2;
  const heads = scans.map(
    (scan): Head<T> => ({
      scan,
      items: [],
      boundary: after,
      ended: false,
      left: maxUnits,
      portion: isFiltered ? Math.min(FIRST_ROWS, share) : share,
      growth: isFiltered ? GROWTH : 1,
      unitsOfRow: LARGE_ROW,
    }),
  );
  const items: T[] = [];
  for (;;) {
    const isFull = items.length === limit;
    // A full page is not worth the search for one more match.
    if (!isFull || !isFiltered) await Promise.all(heads.filter(needsItems).map(readHead));
    if (isFull) return heads.every(isDrained) ? { items } : { items, next: items.at(-1)?.id ?? '' };
    const id = findFirst(
      heads.flatMap(({ items: [first] }) => first?.id ?? []),
      isBefore,
    );
    // Up to where all partitions were examined; undefined when that is to their ends.
    const horizon = findFirst(
      heads.flatMap(({ ended, boundary }) => (ended ? [] : (boundary ?? []))),
      isBefore,
    );
    if (id === undefined || (horizon !== undefined && isBefore(horizon, id)))
      return horizon === undefined ? { items } : { items, next: horizon };
    items.push(...(heads.find(({ items: [first] }) => first?.id === id)?.items.splice(0, 1) ?? []));
  }
}

/** A partition's examined part. */
interface Head<T> {
  scan: Scan<T>;
  /** Matches that are not on the page yet. */
  items: T[];
  boundary: string | undefined;
  ended: boolean;
  /** Read units left. */
  left: number;
  portion: number;
  growth: number;
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
    head.portion *= head.growth;
    head.boundary = boundary;
    head.ended = boundary === undefined;
  }
}

type IsBefore = (id: string, other: string) => boolean;

const findFirst = (ids: readonly string[], isBefore: IsBefore): string | undefined =>
  ids.reduce<string | undefined>(
    (first, id) => (first === undefined || isBefore(id, first) ? id : first),
    undefined,
  );

/** Timeout of the functions of routes. The gateway's is 29 s. */
export const API_TIMEOUT_SECONDS = 10;

/**
 * Age from which a row is committed or lost for good: its id has the time at which its request began. The
 * margin covers differences of clocks, and a write that DynamoDB applies after its function ended.
 */
export const COMMIT_WINDOW_SECONDS = API_TIMEOUT_SECONDS + 5;

/** Rows of the commit window that a position names at most, so that a cursor fits into a URL. */
const MOST_NAMED = 50;

/**
 * A row's id has the time at which its request began, so a row may be committed after others with later ids.
 * A position therefore stays behind the commit window, and names the rows after it that were read.
 */
interface Position {
  /** All rows up to this id were read. */
  after: string;
  named: Set<string>;
}

/** The position before all messages: less than each id. */
export const FIRST_POSITION = 'msg';

function parsePosition(text = FIRST_POSITION): Position {
  const [after = '', ...named] = text.split(' ');
  return { after, named: new Set(named.map((body) => `msg_${body}`)) };
}

const formatPosition = (after: string, named: readonly string[]): string =>
  [after, ...named.map((id) => id.slice('msg_'.length))].join(' ');

/**
 * Reads the messages of a partition by ascending id, as soon as they are committed, consistently, and each of
 * them once. One whose commit was overtaken comes after those that overtook it. Of more than `MOST_NAMED`, or
 * 1 MB, within the commit window, the last ones come when it has passed.
 * @param parse throws when a row is invalid
 */
export async function followPartition<T extends { id: string }>(
  table: Table,
  pk: string,
  parse: (row: unknown) => T,
  { after: position, limit }: PageRequest,
  now: Date,
): Promise<Page<T>> {
  const start = parsePosition(position);
  const { rows, next } = await query(table, {
    where: expression`pk = ${pk} AND sk > ${start.after}`,
    limit: limit + start.named.size,
  });
  const settled = buildIdBound('msg', new Date(now.getTime() - COMMIT_WINDOW_SECONDS * 1000));
  const named = new Set([...start.named].filter((id) => id >= settled));
  const items: T[] = [];
  /** Where the rows that were examined end. */
  let end: string | undefined = next?.sk as string | undefined;
  for (const row of readRows(table, rows, parse)) {
    const isRead = start.named.has(row.id);
    if (!isRead && items.length === limit) {
      end = items.at(-1)?.id;
      break;
    }
    if (!isRead && row.id >= settled && named.size === MOST_NAMED) {
      end = undefined;
      break;
    }
    if (!isRead) items.push(row);
    if (row.id >= settled) named.add(row.id);
  }
  const passed = end !== undefined && end < settled ? end : settled;
  const after = start.after > passed ? start.after : passed;
  const follow = formatPosition(
    after,
    [...new Set([...start.named, ...named])].filter((id) => id > after),
  );
  const hasMore = end !== undefined && (items.length > 0 || end < settled);
  return { items, follow, ...(hasMore ? { next: follow } : {}) };
}
