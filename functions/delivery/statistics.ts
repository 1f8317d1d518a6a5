import { TimedCache } from '../aws/cache.ts';
import type { ReceiverId } from '../aws/ids.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import {
  type AttemptDurations,
  addCounts,
  addDurations,
  countOpen,
  DURATION_CLASSES,
  getHourBefore,
  getLatestHours,
  type HourRange,
  type LedgerEntry,
  type ledgerStore,
  NO_COUNTS,
  toEndOfHour,
} from './ledger.ts';

/** Hours of statistics: the latest `count` ones, the current one included. */
interface Period {
  now: Date;
  count: number;
}

/**
 * Statistics of one endpoint.
 * @param entries of these hours, in any order
 */
export const buildEndpointStats = (
  webhookId: ReceiverId,
  period: Period,
  entries: readonly LedgerEntry[],
) => ({
  webhookId,
  ...getBounds(period),
  ...sumUp(entries),
  hours: listHours(entries),
});

interface EndpointSummary extends Pick<Endpoint, 'id' | 'url' | 'status' | 'consecutiveFailures'> {
  failing: object | null;
  disabledAt?: Endpoint['disabledAt'] | null;
  disabledReason?: Endpoint['disabledReason'] | null;
  /** ISO 8601. */
  waitingSince: string | null;
}

/**
 * Statistics of all endpoints of an organization, in total and each.
 * @param endpoints in the order of the response
 * @param entries of these hours and endpoints, in any order
 */
export function buildDeliveryStats(
  endpoints: readonly EndpointSummary[],
  period: Period,
  entries: readonly LedgerEntry[],
) {
  const byEndpoint = Map.groupBy(entries, ({ webhookId }) => webhookId);
  const { oldestPending, ...sums } = sumUp(entries);
  return {
    ...getBounds(period),
    ...sums,
    backlog: { pending: sums.totals.pending, oldestPending },
    hours: listHours(entries),
    endpoints: endpoints.map((endpoint) => ({
      webhookId: endpoint.id,
      url: endpoint.url,
      status: endpoint.status,
      consecutiveFailures: endpoint.consecutiveFailures,
      failing: endpoint.failing,
      disabledAt: endpoint.disabledAt ?? null,
      disabledReason: endpoint.disabledReason ?? null,
      ...sumUp(byEndpoint.get(endpoint.id) ?? []),
      waitingSince: endpoint.waitingSince,
    })),
  };
}

/** Start of the earliest hour with open deliveries, by endpoint. Endpoints without any are left out. */
export const findOldestOpenHours = (entries: readonly LedgerEntry[]): Map<ReceiverId, string> =>
  new Map(
    [...Map.groupBy(entries, ({ webhookId }) => webhookId)].flatMap(([id, own]) => {
      const hour = findOldestPending(own);
      return hour === null ? [] : [[id, hour] as const];
    }),
  );

function getBounds({ now, count }: Period): { from: string; to: string } {
  const { first, last } = getLatestHours(now, count);
  return { from: first, to: toEndOfHour(last).toISOString() };
}

const sumUp = (entries: readonly LedgerEntry[]) => ({
  totals: sumCounts(entries),
  latency: estimateLatency(entries.reduce((sum, { durations }) => addDurations(sum, durations), {})),
  oldestPending: findOldestPending(entries),
});

function sumCounts(entries: readonly LedgerEntry[]) {
  const counts = entries.reduce(addCounts, NO_COUNTS);
  return { ...counts, pending: countOpen(counts) };
}

/** Hours with deliveries, newest first. */
const listHours = (entries: readonly LedgerEntry[]) =>
  [...Map.groupBy(entries, ({ hour }) => hour)]
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([hour, own]) => ({ hour, ...sumCounts(own) }));

/** Start of the earliest hour with open deliveries. */
const findOldestPending = (entries: readonly LedgerEntry[]): string | null =>
  entries.flatMap((entry) => (countOpen(entry) > 0 ? [entry.hour] : [])).sort()[0] ?? null;

/**
 * Estimates how long attempts took, in whole milliseconds.
 * @returns null without attempts
 */
export function estimateLatency(durations: AttemptDurations): { p50Ms: number; p95Ms: number } | null {
  const total = Object.values(durations).reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  return { p50Ms: estimateQuantile(durations, total / 2), p95Ms: estimateQuantile(durations, total * 0.95) };
}

/** Attempts of a class are taken to be spread evenly over it. */
function estimateQuantile(durations: AttemptDurations, wanted: number): number {
  let before = 0;
  let estimate = 0;
  for (const [index, number] of DURATION_CLASSES.entries()) {
    const count = durations[number] ?? 0;
    if (count === 0 || before >= wanted) continue;
    const begin = index === 0 ? 0 : 2 ** ((Number(number) - 1) / 2);
    const end = 2 ** (Number(number) / 2);
    estimate = begin + ((wanted - before) / count) * (end - begin);
    before += count;
  }
  return Math.round(estimate);
}

/** Hours after which an hour can be finished: all attempts of its deliveries span little more than one. */
const SETTLED_HOURS = 3;
/** Maximum age of cached counts: a late stream record or the ledger audit can still change them. */
const FRESH_MS = 10 * 60_000;
/** Maximum number of cached endpoints, some 50 KB each. */
const MAX_CACHED = 200;

/**
 * Caches finished hours, so that an instance reads only the last few hours again. An hour is finished when it
 * began over three hours ago and neither it nor an earlier hour has open deliveries.
 */
export function cacheFinishedHours(read: ReturnType<typeof ledgerStore>['read']) {
  const cache = new TimedCache<string, { first: string; next: string; entries: LedgerEntry[] }>({
    capacity: MAX_CACHED,
    freshMs: FRESH_MS,
  });

  /** @param hours up to the current one */
  return async (
    endpoint: ReceiverId,
    generation: number,
    { first, last }: HourRange,
    now: Date,
  ): Promise<LedgerEntry[]> => {
    const key = `${endpoint}#${generation}`;
    const cached = cache.get(key, now);
    if (cached !== undefined && cached.first <= first) {
      const finished = cached.entries.filter(({ hour }) => hour >= first);
      const rest = { first: first > cached.next ? first : cached.next, last };
      return [...finished, ...(await read(endpoint, generation, rest))];
    }
    const entries = await read(endpoint, generation, { first, last });
    const open = entries.filter((entry) => countOpen(entry) > 0).map(({ hour }) => hour);
    const [next = first] = [getHourBefore(now, SETTLED_HOURS), ...open].sort();
    cache.set(key, { first, next, entries: entries.filter(({ hour }) => hour < next) }, now);
    return entries;
  };
}
