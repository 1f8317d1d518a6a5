import type { Counts } from './buckets.ts';

const HOUR_MS = 3_600_000;

/** Times that the overview and the lists have both. */
export type ListTime = 'day' | 'week';

/** What the list of an endpoint's deliveries calls an outcome. */
const STATUSES = {
  succeeded: 'succeeded',
  exhausted: 'exhausted',
  skipped: 'skipped',
  pending: 'open',
} as const;

const OF_ALL = {
  succeeded: '/events?outcome=succeeded&',
  exhausted: '/failures?status=exhausted&',
  skipped: '/events?outcome=skipped&',
  pending: '/events?outcome=open&',
} as const;

/** The list of an endpoint's deliveries with an outcome. */
export const listOfEndpoint = (webhookId: string, outcome: keyof Counts, time: ListTime): string =>
  `/deliveries/${webhookId}?status=${STATUSES[outcome]}&time=${time}`;

/**
 * The list that a number of the overview counts: where one endpoint has all of them, its deliveries.
 * @param endpoints with their counts
 */
export function listOf(
  outcome: keyof Counts,
  endpoints: readonly { webhookId: string; totals: Counts }[],
  time: ListTime,
): string {
  const [first, ...others] = endpoints.filter(({ totals }) => totals[outcome] > 0);
  return first !== undefined && others.length === 0
    ? listOfEndpoint(first.webhookId, outcome, time)
    : `${OF_ALL[outcome]}time=${time}`;
}

/** The list of events of a time, of all endpoints or of one. @param hours from `start` on */
export function listOfHours(start: string, hours: number, endpoint?: string): string {
  const to = new Date(Date.parse(start) + hours * HOUR_MS).toISOString();
  return `/events?${new URLSearchParams({ ...(endpoint === undefined ? {} : { endpoint }), from: start, to })}`;
}
