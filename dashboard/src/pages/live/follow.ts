import { mayPass } from '../../api/failures.ts';
import {
  has,
  knows,
  type List,
  type Look,
  meets,
  NOTHING,
  type Place,
  placeOf,
  type Row,
  timeOf,
  withLook,
  withPage,
  withRow,
  withWaiting,
} from './rows.ts';

/** How much later than its event a delivery may come into being and still be seen with the next look. */
const LATE_MS = 15_000;
/** Once in so long it is looked further back, for what came later still. */
const LATER_EVERY_MS = 15_000;
const LATER_MS = 5 * 60_000;
/** Pages that one turn reads at most of a look at the top. */
const MAX_PAGES = 3;
/** New rows of a look that are enough to know that there are many. */
const MANY = 300;

/** A page, newest first. */
export interface Page<R> {
  rows: readonly R[];
  next: string | null;
  /** The service's clock when it was asked for, or somewhat before, in milliseconds since the epoch. */
  at: number;
}

/** A part of a listing. Times in milliseconds since the epoch, `to` excluded. */
export interface Part {
  cursor?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

export interface Source<R> {
  page(part: Part, signal: AbortSignal): Promise<Page<R>>;
  /** One row regardless of filters; undefined when it does not exist. */
  one(id: string, signal: AbortSignal): Promise<R | undefined>;
  /** Whether a row is like what is looked for. */
  isLike(row: R): boolean;
  /** Whether a row may change. */
  isOpen(row: R): boolean;
  /** Milliseconds until an open row is read again. @param looked time of the last poll */
  lookAgainIn(row: R, looked: number): number;
  /**
   * Whether all rows there are is what is looked for, so that those of a time are no more than are in the
   * list.
   */
  isWhole: boolean;
}

/** The visible part of the list. */
export interface View {
  /** Whether new rows may be put above what is being read. */
  isAtTop(): boolean;
  /** Which rows can be seen. */
  inView(): readonly string[];
}

export interface Followed<R extends Row> extends List<R> {
  isLoading: boolean;
  /** Why the last page could not be loaded. */
  error: unknown;
}

/** A look that was not finished in its turn. */
interface Unfinished<R> {
  rows: R[];
  from: number;
  cursor: string;
  at: number;
}

/**
 * A list that is updated live. It is read again from a time that moves with the service's clock, not from its
 * newest row, which may be old: a poll without changes reads no rows, with any filter.
 * @param now the service's clock, in milliseconds since the epoch
 */
export function follow<R extends Row>(source: Source<R>, view: View, now: () => number) {
  let state: Followed<R> = { ...NOTHING, isLoading: false, error: undefined };
  const listeners = new Set<() => void>();
  /** The service's time when all existing rows had been read; undefined before the first page. */
  let readAt: number | undefined;
  let unfinished: Unfinished<R> | undefined;
  let laterAt = 0;
  /** Time of the last poll of rows that may change, or of their first appearance, by the service's clock. */
  let looked = new Map<string, number>();

  const set = (change: Partial<Followed<R>>) => {
    const after = { ...state, ...change };
    if ((Object.keys(change) as (keyof Followed<R>)[]).every((name) => state[name] === after[name])) return;
    state = after;
    for (const listener of listeners) listener();
  };

  async function load(place: Place | undefined, signal: AbortSignal): Promise<void> {
    set({ isLoading: true });
    try {
      const { rows, next, at } = await source.page(place ?? {}, signal);
      if (signal.aborted || (place !== undefined && state.next !== place)) return;
      if (place === undefined) {
        readAt = at;
        laterAt = now();
      }
      const following = next === null ? null : { ...place, cursor: next };
      set({ ...withPage<R>(place === undefined ? NOTHING : state, rows, following), error: undefined });
    } catch (error) {
      if (!signal.aborted) set({ error });
    } finally {
      if (!signal.aborted) set({ isLoading: false });
    }
  }

  /** The next page, if there is one and none is being loaded. */
  async function loadMore(signal: AbortSignal): Promise<void> {
    const { next, isLoading } = state;
    if (next && !isLoading) await load(next, signal);
  }

  /**
   * Reads down to a time, page by page, as long as it is not enough. @returns with a `cursor` where that is
   * so after as many pages as a turn may read
   */
  async function look(
    begun: Omit<Unfinished<R>, 'cursor'> & { cursor?: string },
    isEnough: (rows: readonly R[]) => boolean,
    signal: AbortSignal,
  ): Promise<(Look<R> & { at: number }) | Unfinished<R>> {
    const rows = [...begun.rows];
    let { cursor, at } = begun;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const read = await source.page({ from: begun.from, cursor }, signal);
      rows.push(...read.rows);
      at = Math.min(at, read.at);
      if (read.next === null) return { rows, from: begun.from, at, isComplete: true };
      cursor = read.next;
      if (isEnough(rows)) return { rows, from: begun.from, at, isComplete: false };
    }
    return { rows, from: begun.from, at, cursor: cursor ?? '' };
  }
  const areMany = (rows: readonly R[]) => rows.filter((row) => !knows(state, row)).length >= MANY;

  const take = (found: Look<R>) => set(withLook<R>(state, found, view.isAtTop()));

  /** What is new since the last look, and what has changed meanwhile among what was new then. */
  async function lookAtTop(since: number, signal: AbortSignal): Promise<void> {
    const from = since - LATE_MS;
    const begun = unfinished ?? { rows: [], from, at: Number.POSITIVE_INFINITY };
    const found = await look(begun, (rows) => meets(state, rows) || areMany(rows), signal);
    if (signal.aborted) return;
    if ('cursor' in found) {
      // A short or empty page says nothing: the rows that were read do not match the filters.
      unfinished = found;
      return;
    }
    unfinished = undefined;
    readAt = found.at;
    take(found);
  }

  /**
   * Rows that appeared too late for polls of the top, such as those of a redelivery job, which carry its
   * time.
   */
  async function lookFurtherBack(signal: AbortSignal): Promise<void> {
    const newest = state.rows[0];
    const earliest = now() - LATER_MS;
    const from = source.isWhole && newest !== undefined ? Math.min(earliest, timeOf(newest)) : earliest;
    const found = await look({ rows: [], from, at: Number.POSITIVE_INFINITY }, areMany, signal);
    if (!signal.aborted) take('cursor' in found ? { ...found, isComplete: false } : found);
  }

  /** Visible rows that may change and that polls of the top do not reach. */
  function openInView(): R[] {
    const reached = (readAt ?? 0) - LATE_MS;
    return view.inView().flatMap((id) => {
      const row = state.rows[placeOf(state.rows, id)];
      return row?.id === id && source.isOpen(row) && timeOf(row) < reached ? row : [];
    });
  }

  /** Looks again at rows of which something may have become, those of a whole list all at once, else one. */
  async function refresh(signal: AbortSignal): Promise<void> {
    const open = openInView();
    const at = now();
    looked = new Map(open.map(({ id }) => [id, looked.get(id) ?? at]));
    const dueAt = (row: R) => {
      const last = looked.get(row.id) ?? at;
      return last + source.lookAgainIn(row, last);
    };
    const due = open.filter((row) => dueAt(row) <= at).sort((a, b) => dueAt(a) - dueAt(b));
    const [first] = due;
    if (first === undefined) return;
    for (const { id } of source.isWhole ? open : [first]) looked.set(id, at);
    if (source.isWhole) return refreshAll(open, signal);
    const row = await source.one(first.id, signal);
    if (!signal.aborted) replace(first.id, row);
  }

  async function refreshAll(open: readonly R[], signal: AbortSignal): Promise<void> {
    const times = open.map(timeOf);
    const part = { from: Math.min(...times), to: Math.max(...times) + 1 };
    const { rows } = await source.page(part, signal);
    if (signal.aborted) return;
    for (const row of rows) if (has(state.rows, row.id)) replace(row.id, row);
  }

  const replace = (id: string, row: R | undefined) =>
    set(
      withRow<R>(state, id, row, {
        isAtTop: view.isAtTop(),
        isLike: row !== undefined && source.isLike(row),
      }),
    );

  return {
    state: () => state,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** The first page, unless it is there. */
    async begin(signal: AbortSignal): Promise<void> {
      if (state.next === undefined) await load(undefined, signal);
      else set({ isLoading: false });
    },
    loadMore,
    /**
     * Looks once for what is new and for what has become of what is shown: a few requests at most, one where
     * nothing happens. @throws ApiFailure
     */
    async turn(signal: AbortSignal): Promise<void> {
      if (readAt === undefined || state.next === undefined) return;
      await lookAtTop(readAt, signal).catch((error: unknown) => {
        // A place that is refused would be refused for ever.
        if (!mayPass(error)) unfinished = undefined;
        throw error;
      });
      if (signal.aborted || unfinished !== undefined) return;
      if (now() - laterAt < LATER_EVERY_MS) return refresh(signal);
      laterAt = now();
      await lookFurtherBack(signal);
      // A page that failed to load is tried again without a press of a button.
      if (!signal.aborted && mayPass(state.error)) await loadMore(signal);
    },
    /** Puts what waits where it belongs. */
    showWaiting: () => set(withWaiting<R>(state)),
  };
}
