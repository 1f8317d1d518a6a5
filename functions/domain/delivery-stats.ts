import type { Endpoint } from './endpoint.ts';
import type { ReceiverId } from './ids.ts';
import {
  endOfHour,
  hourBefore,
  type LedgerCounts,
  type LedgerEntry,
  NOTHING,
  openIn,
  plus,
  startOfHour,
} from './ledger.ts';

/**
 * What the ledger says of an endpoint, for its owner.
 * @param count how many hours it is about, as for `latestHours`
 * @param entries the ledger's, of these hours and this endpoint, in any order
 */
export function statsOf(
  webhookId: ReceiverId,
  { now, count }: { now: Date; count: number },
  entries: readonly LedgerEntry[],
) {
  const newestFirst = entries.toSorted((one, other) => (one.hour < other.hour ? 1 : -1));
  return {
    webhookId,
    from: hourBefore(now, count - 1),
    to: endOfHour(startOfHour(now)).toISOString(),
    totals: shown(newestFirst.reduce<LedgerCounts>(plus, NOTHING)),
    oldestPending: oldestPendingOf(entries),
    hours: newestFirst.map((entry) => ({ hour: entry.hour, ...shown(entry) })),
  };
}

/** What is shown of an endpoint among others. */
interface Shown extends Pick<Endpoint, 'id' | 'url' | 'status' | 'consecutiveFailures'> {
  failing: object | null;
  disabledAt?: Endpoint['disabledAt'] | null;
  disabledReason?: Endpoint['disabledReason'] | null;
  /** ISO 8601. */
  waitingSince: string | null;
}

/** A delivery that has not ended after so long waits: nothing was there to take it, or it was refused. */
export const WAITING_MS = 60_000;

/** The beginning of the earliest hour of each endpoint with deliveries that have not ended; the others are left out. */
export const openHours = (entries: readonly LedgerEntry[]): Map<ReceiverId, string> =>
  new Map(
    [...Map.groupBy(entries, ({ webhookId }) => webhookId)].flatMap(([id, own]) => {
      const hour = oldestPendingOf(own);
      return hour === null ? [] : [[id, hour] as const];
    }),
  );

/**
 * What the ledger says of all endpoints of an organization together, and of each.
 * @param endpoints in the order in which they are shown
 * @param count how many hours it is about, as for `latestHours`
 * @param entries the ledger's, of these hours and endpoints, in any order
 */
export function overviewOf(
  endpoints: readonly Shown[],
  { now, count }: { now: Date; count: number },
  entries: readonly LedgerEntry[],
) {
  const byHour = Map.groupBy(entries, ({ hour }) => hour);
  const byEndpoint = Map.groupBy(entries, ({ webhookId }) => webhookId);
  const sum = (some: readonly LedgerEntry[]) => shown(some.reduce<LedgerCounts>(plus, NOTHING));
  const totals = sum(entries);
  return {
    from: hourBefore(now, count - 1),
    to: endOfHour(startOfHour(now)).toISOString(),
    totals,
    backlog: { pending: totals.pending, oldestPending: oldestPendingOf(entries) },
    hours: [...byHour]
      .sort(([one], [other]) => (one < other ? 1 : -1))
      .map(([hour, some]) => ({ hour, ...sum(some) })),
    endpoints: endpoints.map((endpoint) => {
      const own = byEndpoint.get(endpoint.id) ?? [];
      return {
        webhookId: endpoint.id,
        url: endpoint.url,
        status: endpoint.status,
        consecutiveFailures: endpoint.consecutiveFailures,
        failing: endpoint.failing,
        disabledAt: endpoint.disabledAt ?? null,
        disabledReason: endpoint.disabledReason ?? null,
        totals: sum(own),
        oldestPending: oldestPendingOf(own),
        waitingSince: endpoint.waitingSince,
      };
    }),
  };
}

/** Beginning of the earliest hour with deliveries that have not ended. */
const oldestPendingOf = (entries: readonly LedgerEntry[]): string | null =>
  entries.flatMap((entry) => (openIn(entry) > 0 ? [entry.hour] : [])).sort()[0] ?? null;

const shown = (counts: LedgerCounts) => ({ ...plus(NOTHING, counts), pending: openIn(counts) });
