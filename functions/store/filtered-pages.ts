import type { Page, PageRequest } from './pages.ts';

/** What a scan has found of one partition. */
interface Scanned<T> {
  items: T[];
  /** How many rows were examined for them. */
  examined: number;
  /** Read units that this consumed. */
  units: number;
  /** The identifier down to which the partition has been examined, itself included. Absent when there is nothing below. */
  boundary?: string | undefined;
}

/**
 * Examines up to `rows` rows of one partition whose identifiers are below `before`, in descending order, and gives those that match. One row below
 * `before` at least, where there is one.
 */
export type PartitionScan<T> = (before: string | undefined, rows: number) => Promise<Scanned<T>>;

/**
 * Read units that one page consumes of a partition, about: the last request may take more where rows become
 * larger.
 */
const MOST_UNITS = 60;
/** Each portion is so many times as large as the one before: what is rare is found in few requests, what is not with few rows. */
const GROWTH = 4;
/** Read units of a row before any was read: one of 4 KB, read consistently. */
const LARGE_ROW = 1;
const FIRST_EXTRA = 2;
/** The first rows tell how large they are. */
const FIRST_ROWS = 4;

/**
 * Merges partitions as `newestFirst` does, of which only some items match. How much is examined for a page is bounded, so that a page may be short,
 * or empty, and have a `next` all the same: the identifier down to which every partition has been examined. Whoever goes on after it, until there is none, gets
 * each matching item once.
 */
export async function newestMatching<T extends { id: string }>(
  partitions: readonly PartitionScan<T>[],
  { limit, after }: PageRequest,
  mostUnits = MOST_UNITS,
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
    const newest = newestOf(heads);
    const horizon = horizonOf(heads);
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

const newestOf = <T extends { id: string }>(heads: readonly Head<T>[]): Head<T> | undefined =>
  heads.reduce<Head<T> | undefined>(
    (best, head) => (head.items[0] && (!best?.items[0] || head.items[0].id > best.items[0].id) ? head : best),
    undefined,
  );

/** Below it some partition has not been examined. Undefined when all have been to their ends. */
const horizonOf = <T>(heads: readonly Head<T>[]): string | undefined =>
  heads.reduce<string | undefined>(
    (highest, { ended, boundary }) =>
      ended || boundary === undefined || (highest !== undefined && boundary < highest) ? highest : boundary,
    undefined,
  );
