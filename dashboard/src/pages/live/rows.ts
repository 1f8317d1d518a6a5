/**
 * A row of a list. Ids ascend in time: a prefix, `_` and twelve hexadecimal digits of milliseconds
 * (docs/specification.md, Representation). Those of one list have one prefix.
 */
export interface Row {
  id: string;
}

/**
 * Where a page begins: at a cursor of a listing that ends before `to`, or at the newest row before it.
 * Milliseconds since the epoch.
 */
export interface Place {
  cursor?: string;
  to?: number;
}

export interface List<R extends Row> {
  /** What is shown, newest first. */
  rows: readonly R[];
  /** Where the next page begins; null at the end, undefined before the first one. */
  next: Place | null | undefined;
  /**
   * New rows that are not shown yet, so that the list does not move while the user reads further down; newest
   * first.
   */
  waiting: readonly R[];
  /**
   * The identifier below which rows may be missing once those that wait are among them: what is below is to
   * be loaded again.
   */
  cut: string | undefined;
}

/** What was read of a list's top, newest first. */
export interface Look<R extends Row> {
  rows: readonly R[];
  /** Milliseconds since the epoch, down to which was looked. */
  from: number;
  /** Whether all from `from` on was read. If not, all down to the last row was. */
  isComplete: boolean;
}

/** Rows that wait at most; beyond them it is known only that there are more. */
export const MAX_WAITING = 300;
/** Maximum number of rows while the top is visible, so that an open list does not grow forever. */
export const MAX_KEPT = 1000;
/** So many rows that are known, one after another, say that below them nothing is new. */
const KNOWN_RUN = 50;

export const NOTHING: List<never> = { rows: [], next: undefined, waiting: [], cut: undefined };

/** Milliseconds since the epoch. */
export const timeOf = ({ id }: Row): number => Number.parseInt(id.slice(4, 16), 16);

/** Where a row is, or would be, in a list; its length for one that is older than all. */
export function placeOf(rows: readonly Row[], id: string): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle]?.id ?? '') > id) low = middle + 1;
    else high = middle;
  }
  return low;
}

export const has = (rows: readonly Row[], id: string): boolean => rows[placeOf(rows, id)]?.id === id;

/** Whether a row is nothing new to a list: shown, or waiting, or on a page that is yet to be loaded. */
export function knows(list: List<Row>, { id }: Row): boolean {
  const last = list.rows.at(-1);
  return (
    has(list.rows, id) || has(list.waiting, id) || (list.next !== null && last !== undefined && id < last.id)
  );
}

/**
 * Whether what was read of a list's top ends with rows that it knows, so that nothing lies between them and
 * the rest.
 */
export function meets(list: List<Row>, read: readonly Row[]): boolean {
  const last = read.slice(-KNOWN_RUN);
  return last.length === KNOWN_RUN && last.every((row) => knows(list, row));
}

/** Whether nothing of a row differs. The API writes the fields of a resource in one order. */
const isSame = (one: Row, other: Row): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * Takes in what was read of the top. At the top new rows come in and those go that are no longer like what is
 * looked for; further down neither number nor order of the rows changes, and what is new waits. The same list
 * where nothing has changed, so that nothing is drawn anew.
 */
export function withLook<R extends Row>(list: List<R>, look: Look<R>, isAtTop: boolean): List<R> {
  const read = new Map(look.rows.map((row) => [row.id, row]));
  const last = look.rows.at(-1);
  // Of the last row's millisecond there may be more.
  const floor = look.isComplete
    ? look.from
    : last === undefined
      ? Number.POSITIVE_INFINITY
      : timeOf(last) + 1;
  const added = look.rows.filter((row) => !knows(list, row));
  const isOpenBelow = !look.isComplete && added.length > 0 && !meets(list, look.rows);
  const cut = isOpenBelow ? higher(list.cut, last?.id) : list.cut;
  const rows = updated(list.rows, read);
  const waiting = insert(readAgain(updated(list.waiting, read), read, floor), added);
  const changed = { ...list, rows: isAtTop ? readAgain(rows, read, floor) : rows, waiting, cut };
  return settled(list, isAtTop ? withWaiting(changed) : bounded(changed));
}

/** Shows what waits. A list that would have gaps ends where they begin, and goes on from there. */
export function withWaiting<R extends Row>(list: List<R>): List<R> {
  const rows = insert(list.rows, list.waiting);
  const whole = { ...list, rows, waiting: [], cut: undefined };
  const end = list.cut ?? (rows.length > MAX_KEPT ? rows[MAX_KEPT / 2]?.id : undefined);
  if (end === undefined) return whole;
  const below = placeOf(rows, end) + (has(rows, end) ? 1 : 0);
  return { ...whole, rows: rows.slice(0, below), next: { to: timeOf({ id: end }) + 1 } };
}

/**
 * Brings one row up to date, or without `row` says that it is gone. @param isLike whether it is still like
 * what is looked for
 */
export function withRow<R extends Row>(
  list: List<R>,
  id: string,
  row: R | undefined,
  { isAtTop, isLike }: { isAtTop: boolean; isLike: boolean },
): List<R> {
  const [rows, waiting] =
    row === undefined
      ? [list.rows, list.waiting]
      : [list.rows, list.waiting].map((some) => updated(some, new Map([[id, row]])));
  const isKept = (each: R) => each.id !== id || (row !== undefined && isLike);
  return settled(list, {
    ...list,
    rows: isAtTop ? filtered(rows ?? [], isKept) : (rows ?? []),
    waiting: filtered(waiting ?? [], isKept),
  });
}

/** A further page behind the rows that are there, and where the one after it begins. */
export const withPage = <R extends Row>(list: List<R>, page: readonly R[], next: Place | null): List<R> => {
  const last = list.rows.at(-1);
  return {
    ...list,
    rows: [...list.rows, ...page.filter(({ id }) => last === undefined || id < last.id)],
    next,
  };
};

/** Of many that wait the newest are enough. */
function bounded<R extends Row>(list: List<R>): List<R> {
  if (list.waiting.length <= MAX_WAITING) return list;
  const waiting = list.waiting.slice(0, MAX_WAITING);
  return { ...list, waiting, cut: higher(list.cut, waiting.at(-1)?.id) };
}

const higher = (one: string | undefined, other: string | undefined): string | undefined =>
  one === undefined || (other !== undefined && other > one) ? other : one;

/** The rows with more among them; both newest first. */
function insert<R extends Row>(rows: readonly R[], more: readonly R[]): readonly R[] {
  const oldest = more.at(-1);
  if (oldest === undefined) return rows;
  const end = placeOf(rows, oldest.id);
  const head = rows.slice(0, end);
  return [...[...more, ...head].sort((a, b) => (a.id < b.id ? 1 : -1)), ...rows.slice(end)];
}

/** Rows from a time on that were not read again are no longer like what is looked for. */
function readAgain<R extends Row>(
  rows: readonly R[],
  read: ReadonlyMap<string, R>,
  floor: number,
): readonly R[] {
  const [newest] = rows;
  const end = newest === undefined || floor <= 0 ? rows.length : placeOf(rows, firstOf(floor, newest));
  const head = filtered(rows.slice(0, end), ({ id }) => read.has(id));
  return head.length === end ? rows : [...head, ...rows.slice(end)];
}

/** Before all identifiers of a time and those that follow, and after all earlier ones. */
const firstOf = (time: number, { id }: Row): string =>
  Number.isFinite(time) ? `${id.slice(0, 4)}${time.toString(16).padStart(12, '0')}` : '~';

/** The same rows where all of them stay. */
function filtered<R extends Row>(rows: readonly R[], isKept: (row: R) => boolean): readonly R[] {
  return rows.every(isKept) ? rows : rows.filter(isKept);
}

/** The same rows where none of them differs. */
function updated<R extends Row>(rows: readonly R[], read: ReadonlyMap<string, R>): readonly R[] {
  let result: R[] | undefined;
  for (const [id, row] of read) {
    const place = placeOf(rows, id);
    const known = rows[place];
    if (known === undefined || known.id !== id || isSame(known, row)) continue;
    result ??= [...rows];
    result[place] = row;
  }
  return result ?? rows;
}

const settled = <R extends Row>(before: List<R>, after: List<R>): List<R> =>
  before.rows === after.rows &&
  sameOrEmpty(before.waiting, after.waiting) &&
  before.cut === after.cut &&
  before.next === after.next
    ? before
    : after;

const sameOrEmpty = (one: readonly Row[], other: readonly Row[]): boolean =>
  one === other || (one.length === 0 && other.length === 0);

/** The indices from one to another, and one more, in their order. @param range as react-virtual has it */
export function rangeWith(
  {
    startIndex,
    endIndex,
    overscan,
    count,
  }: { startIndex: number; endIndex: number; overscan: number; count: number },
  more: number,
): number[] {
  const first = Math.max(0, startIndex - overscan);
  const last = Math.min(count - 1, endIndex + overscan);
  const indices = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  if (more >= count) return indices;
  if (more < first) return [more, ...indices];
  return more > last ? [...indices, more] : indices;
}
