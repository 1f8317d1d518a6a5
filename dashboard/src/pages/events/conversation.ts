import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { Environment } from '../../api/client.ts';
import { readEvents } from '../../api/events.ts';
import { type ListedEvent, openDeliveries } from '../../api/open-deliveries.ts';
import { LIVE_MS } from '../../api/pace.ts';
import { serviceNow } from '../../api/service-clock.ts';
import { createdAt } from '../search/ids.ts';
import type { Events } from './use-events.ts';

/** Pages of the log that are read before the reader is asked to go on. */
const MAX_PAGES = 5;
/** The log, oldest first, has an event after 15 seconds: until then the newest ones are read. */
const LOG_DELAY_MS = 30_000;
const OPEN_MS = 10_000;

interface Part {
  rows: ListedEvent[];
  /** Where the next part begins; null at the end of the log. */
  next: string | null;
  /** Time of the last event that was read. */
  reached: string | undefined;
  /** The service's clock when the end was reached. */
  at: number;
}

/** The events of a conversation that a part of the log has. */
async function readPart(
  environment: Environment,
  id: string,
  begin: string | null,
  signal: AbortSignal,
): Promise<Part> {
  const from = new Date(createdAt(id)).toISOString();
  const part: Part = { rows: [], next: begin, reached: undefined, at: 0 };
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = { order: 'asc' as const, from, cursor: part.next ?? undefined };
    const { rows, next, at } = await readEvents(environment, query, signal);
    part.rows.push(...rows.filter(({ data }) => data.conversationId === id));
    part.reached = rows.at(-1)?.createdAt ?? part.reached;
    part.at = at;
    part.next = next;
    if (next === null) break;
  }
  return part;
}

/** Events of a conversation, from its creation on, and new ones as they happen. */
export function useConversation(environment: Environment, id: string): Events {
  const log = useInfiniteQuery({
    queryKey: [environment, 'conversation-events', id],
    queryFn: ({ pageParam, signal }) => readPart(environment, id, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    refetchOnWindowFocus: false,
    // Deliveries that are in progress change.
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ rows }) => rows.some((row) => openDeliveries(row, serviceNow()).length > 0))
        ? OPEN_MS
        : false,
  });
  const parts = log.data?.pages ?? [];
  const last = parts.at(-1);
  const isAtEnd = last !== undefined && last.next === null;
  const from = isAtEnd ? new Date(last.at - LOG_DELAY_MS).toISOString() : '';
  const newest = useQuery({
    queryKey: [environment, 'conversation-events', id, 'newest', from],
    queryFn: ({ signal }) => readEvents(environment, { from }, signal),
    enabled: isAtEnd,
    refetchInterval: 2 * LIVE_MS,
  });
  const { fetchNextPage } = log;
  const loadMore = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  const added = newest.data?.rows.filter(({ data }) => data.conversationId === id) ?? [];
  return {
    rows: newestFirst([...parts.flatMap(({ rows }) => rows), ...added]),
    next: last === undefined ? undefined : isAtEnd ? null : {},
    waiting: [],
    cut: undefined,
    isLoading: log.isFetching && !log.isRefetching,
    error: log.error ?? undefined,
    stale: newest.error ?? undefined,
    pausedAt: last === undefined || isAtEnd || log.isFetchingNextPage ? undefined : last.reached,
    loadMore,
    showWaiting: () => undefined,
    reload: () => void log.refetch(),
  };
}

/** Each event once, as it was read last. */
function newestFirst(events: readonly ListedEvent[]): ListedEvent[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  return [...byId.values()].sort((one, other) => (one.id < other.id ? 1 : -1));
}
