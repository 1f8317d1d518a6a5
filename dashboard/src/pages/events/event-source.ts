import { type ListedEvent, openDeliveries } from '../../api/open-deliveries.ts';
import { lookAgainIn } from '../../api/pace.ts';
import type { Source } from '../live/follow.ts';
import { type Filters, isLike, isPicky, queryOf } from './filters.ts';

/** Pages with few matches that are read one after another before the reader is asked to go on. */
export const MAX_POOR_PAGES = 10;

/** How far a search came that leaves out most of what it reads. */
interface Search {
  /** Time of the oldest event that was read. */
  reached: string | undefined;
  poorPages: number;
}

export interface EventSource extends Source<ListedEvent> {
  search: Search;
}

/** What a list of events reads. */
export interface EventReads {
  page(
    query: {
      type?: string | undefined;
      from?: string | undefined;
      to?: string | undefined;
      cursor?: string | undefined;
    },
    signal: AbortSignal,
  ): Promise<{ rows: ListedEvent[]; next: string | null; at: number }>;
  one(id: string, signal: AbortSignal): Promise<ListedEvent | undefined>;
}

/**
 * The events that filters leave, of which the API knows those by type and time.
 * @param now the service's clock, in milliseconds since the epoch
 */
export function eventSource(filters: Filters, reads: EventReads, now: () => number): EventSource {
  const query = queryOf(filters, now());
  const earliest = query.from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(query.from);
  const latest = query.to === undefined ? Number.POSITIVE_INFINITY : Date.parse(query.to);
  const search: Search = { reached: undefined, poorPages: 0 };
  return {
    search,
    async page({ cursor, from, to }, signal) {
      const begin = Math.max(earliest, from ?? Number.NEGATIVE_INFINITY);
      const end = Math.min(latest, to ?? Number.POSITIVE_INFINITY);
      if (begin >= end) return { rows: [], next: null, at: now() };
      const part = {
        ...query,
        cursor,
        ...(begin > 0 ? { from: new Date(begin).toISOString() } : {}),
        ...(end < Number.POSITIVE_INFINITY ? { to: new Date(end).toISOString() } : {}),
      };
      const page = await reads.page(part, signal);
      const rows = page.rows.filter((event) => isLike(filters, event));
      // What is new is looked for without end.
      if (from === undefined) {
        search.reached = page.rows.at(-1)?.createdAt ?? search.reached;
        const isPoor = rows.length === 0 || 2 * rows.length < page.rows.length;
        search.poorPages = isPoor ? search.poorPages + 1 : 0;
      }
      return { ...page, rows };
    },
    one: reads.one,
    isLike: (row) => isLike(filters, row),
    isOpen: (row) => openDeliveries(row, now()).length > 0,
    lookAgainIn: (row, looked) =>
      Math.min(...openDeliveries(row, looked).map((delivery) => lookAgainIn(delivery, looked))),
    isWhole: filters.type === 'any' && !isPicky(filters),
  };
}
