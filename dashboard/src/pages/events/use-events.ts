import { useCallback } from 'react';
import type { Environment } from '../../api/client.ts';
import { readEvent, readEvents, toListed } from '../../api/events.ts';
import { isGone } from '../../api/failures.ts';
import type { ListedEvent } from '../../api/open-deliveries.ts';
import { serviceNow } from '../../api/service-clock.ts';
import type { View } from '../live/follow.ts';
import { type Live, useFollowed } from '../live/use-followed.ts';
import { type EventReads, type EventSource, eventSource, MAX_POOR_PAGES } from './event-source.ts';
import type { Filters } from './filters.ts';

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
    environment,
    ['events', filters],
    () => eventSource(filters, readsOf(environment), serviceNow),
    view,
  );
  const { search } = live.source;
  const { loadMore: loadPage } = live;
  const loadMore = useCallback(() => {
    if (search.poorPages >= MAX_POOR_PAGES) search.poorPages = 0;
    loadPage();
  }, [search, loadPage]);
  const isPaused = live.next !== null && !live.isLoading && search.poorPages >= MAX_POOR_PAGES;
  return { ...live, loadMore, pausedAt: isPaused ? search.reached : undefined };
}

const readsOf = (environment: Environment): EventReads => ({
  page: (query, signal) => readEvents(environment, query, signal),
  async one(id, signal) {
    try {
      return toListed(await readEvent(environment, id, signal));
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  },
});
