import type { Environment } from '../../api/client.ts';
import { readEvent, readEvents, toListed } from '../../api/events.ts';
import { isGone } from '../../api/failures.ts';
import { type ListedEvent, openDeliveries } from '../../api/open-deliveries.ts';
import { lookAgainIn } from '../../api/pace.ts';
import { serviceNow } from '../../api/service-clock.ts';
import type { Source, View } from '../live/follow.ts';
import { type Live, useFollowed } from '../live/use-followed.ts';
import { type Filters, isLike, isPicky, queryOf } from './filters.ts';

/** Pages with few matches that are read one after another before the reader is asked to go on. */
const MAX_POOR_PAGES = 10;

/** How far a search came that leaves out most of what it reads. */
interface Search {
  /** Time of the oldest event that was read. */
  reached: string | undefined;
  poorPages: number;
}
interface EventSource extends Source<ListedEvent> {
  search: Search;
}

export interface Events extends Live<ListedEvent> {
  /** Time of the oldest event that was read, where the search waits for the reader. */
  pausedAt: string | undefined;
}

/**
 * The organization's events, newest first, page by page; new ones appear within two seconds.
 * @param view returns the visible part of the list
 */
export function useEvents(environment: Environment, filters: Filters, view: View): Events {
  const live = useFollowed<ListedEvent, EventSource>(
    JSON.stringify([environment, 'events', filters]),
    () => sourceOf(environment, filters),
    view,
  );
  const { search } = live.source;
  const isPaused = live.next !== null && !live.isLoading && search.poorPages >= MAX_POOR_PAGES;
  return {
    ...live,
    pausedAt: isPaused ? search.reached : undefined,
    loadMore() {
      if (search.poorPages >= MAX_POOR_PAGES) search.poorPages = 0;
      live.loadMore();
    },
  };
}

function sourceOf(environment: Environment, filters: Filters): EventSource {
  const query = queryOf(filters, serviceNow());
  const earliest = query.from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(query.from);
  const search: Search = { reached: undefined, poorPages: 0 };
  return {
    search,
    async page({ cursor, from, to }, signal) {
      const begin = Math.max(earliest, from ?? Number.NEGATIVE_INFINITY);
      const part = {
        ...query,
        cursor,
        ...(begin > 0 ? { from: new Date(begin).toISOString() } : {}),
        ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
      };
      const page = await readEvents(environment, part, signal);
      const rows = page.rows.filter((event) => isLike(filters, event));
      // What is new is looked for without end.
      if (from === undefined) {
        search.reached = page.rows.at(-1)?.createdAt ?? search.reached;
        const isPoor = rows.length === 0 || 2 * rows.length < page.rows.length;
        search.poorPages = isPoor ? search.poorPages + 1 : 0;
      }
      return { ...page, rows };
    },
    async one(id, signal) {
      try {
        return toListed(await readEvent(environment, id, signal));
      } catch (error) {
        if (isGone(error)) return undefined;
        throw error;
      }
    },
    isLike: (row) => isLike(filters, row),
    isOpen: (row) => openDeliveries(row, serviceNow()).length > 0,
    lookAgainIn: (row, looked) =>
      Math.min(...openDeliveries(row, looked).map((delivery) => lookAgainIn(delivery, looked))),
    isWhole: filters.type === 'any' && !isPicky(filters),
  };
}
