import { useQuery } from '@tanstack/react-query';
import { answerTo, api, type Environment, type Schema, timed } from './client.ts';
import { isGone } from './failures.ts';
import { type ListedEvent, openDeliveries } from './open-deliveries.ts';
import { followIn } from './pace.ts';
import { serviceNow } from './service-clock.ts';

export type EventDelivery = Schema<'EventDelivery'>;
export type EventDetail = Schema<'EventWithDeliveries'>;

export const HISTORY_DAYS = 30;

export interface EventQuery {
  type?: string | undefined;
  /** ISO 8601. */
  from?: string | undefined;
  to?: string | undefined;
  cursor?: string | undefined;
  order?: 'asc' | 'desc';
  limit?: number;
}

const PAGE = 100;
export const PREVIEW_DAYS = 7;
const PREVIEW_PAGES = 5;

/** A page of the event log, each event with its deliveries. @throws ApiFailure */
export async function readEvents(
  environment: Environment,
  query: EventQuery,
  signal: AbortSignal,
): Promise<{ rows: ListedEvent[]; next: string | null; at: number }> {
  const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
  const params = { query: { environment, limit: PAGE, include: 'deliveries' as const, ...given } };
  const { data, nextCursor, at } = await timed(api.GET('/api/settings/events', { params, signal }));
  return {
    rows: data.map((event) => ({ ...event, deliveries: event.deliveries ?? [] })),
    next: nextCursor,
    at,
  };
}

/** The newest events of some days, of a few pages at most. `isWhole` when these are all. */
export const useRecentEvents = (environment: Environment) =>
  useQuery({
    queryKey: [environment, 'recent-events'],
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const from = new Date(serviceNow() - PREVIEW_DAYS * 86_400_000).toISOString();
      const events: Schema<'Event'>[] = [];
      let cursor: string | null | undefined;
      for (let page = 0; page < PREVIEW_PAGES && cursor !== null; page += 1) {
        const query: EventQuery = { limit: PAGE, from, cursor };
        const read: Schema<'EventPage'> = await answerTo(
          api.GET('/api/settings/events', { params: { query: { ...query, environment } }, signal }),
        );
        events.push(...read.data);
        cursor = read.nextCursor;
      }
      return { events, isWhole: cursor === null };
    },
  });

/** One event with its payload and deliveries. @throws ApiFailure */
export async function readEvent(
  environment: Environment,
  id: string,
  signal: AbortSignal,
): Promise<EventDetail> {
  const params = { path: { id }, query: { environment } };
  return (await timed(api.GET('/api/settings/events/{id}', { params, signal }))).data;
}

/** The event as a list shows it. */
export const toListed = ({ payload: _, deliveries, ...event }: EventDetail): ListedEvent => ({
  ...event,
  deliveries: deliveries.map(({ attemptLog, ...summary }) => summary),
});

/** One event, followed until its deliveries have ended. */
export const useEvent = (environment: Environment, id: string, isEnabled = true) =>
  useQuery({
    queryKey: [environment, 'events', id],
    enabled: isEnabled,
    queryFn: ({ signal }) => readEvent(environment, id, signal),
    refetchInterval: ({ state }) => {
      const now = serviceNow();
      if (isGone(state.error)) return false;
      if (state.data === undefined) return followIn(undefined, now, state.error);
      const waits = openDeliveries(state.data, now).map((delivery) => followIn(delivery, now, state.error));
      const due = waits.filter((wait) => wait !== false);
      return due.length === 0 ? false : Math.min(...due);
    },
  });
