import * as z from 'zod/mini';
import type { Delivery } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import { OrgId, parseCreationTime, ReceiverId } from './ids.ts';

/**
 * What became of the deliveries that an endpoint was owed in one hour. All counts are under the hour in which
 * the delivery was created, so that an hour balances once its deliveries have ended: `owed = succeeded +
 * exhausted + skipped`.
 */
export const LedgerCounts = z.object({
  owed: z.int(),
  succeeded: z.int(),
  exhausted: z.int(),
  skipped: z.int(),
  /** Attempts whose outcome was lost, so that the receiver may have had the event once more than it seems. */
  duplicates: z.int(),
});
export type LedgerCounts = z.infer<typeof LedgerCounts>;

export const LedgerEntry = z.extend(LedgerCounts, {
  /** Entries of before it was noted do not say it. */
  orgId: z.optional(OrgId),
  webhookId: ReceiverId,
  generation: z.int(),
  /** Beginning of the hour, UTC. */
  hour: z.iso.datetime(),
});
export type LedgerEntry = z.infer<typeof LedgerEntry>;

export const NO_COUNTS: LedgerCounts = { owed: 0, succeeded: 0, exhausted: 0, skipped: 0, duplicates: 0 };

/** What the stream of the deliveries tells: one came into being, or one ended. One may do both at once. */
export interface DeliveryChange {
  kind: 'added' | 'ended';
  delivery: Delivery;
}

const MS_PER_HOUR = 3_600_000;

/**
 * The hour that a delivery is counted under. Its identifier carries its event's time, so that a recount finds
 * it by key.
 */
export const getLedgerHour = ({ id }: Pick<Delivery, 'id'>): string => toStartOfHour(parseCreationTime(id));

export const toStartOfHour = (time: Date): string =>
  new Date(Math.floor(time.getTime() / MS_PER_HOUR) * MS_PER_HOUR).toISOString();

export const toEndOfHour = (hour: string): Date => new Date(new Date(hour).getTime() + MS_PER_HOUR);

/** The hour so many hours before the one of `time`. */
export const getHourBefore = (time: Date, hours: number): string =>
  toStartOfHour(new Date(time.getTime() - hours * MS_PER_HOUR));

/** Hours from the first to the last one, both included, each by its beginning. */
export interface HourRange {
  first: string;
  last: string;
}

/** So many hours of the clock. The one under way is the last of them. */
export const getLatestHours = (now: Date, count: number): HourRange => ({
  first: getHourBefore(now, count - 1),
  last: toStartOfHour(now),
});

/** Deliveries that are counted and have not ended. */
export const countOpen = ({ owed, succeeded, exhausted, skipped }: LedgerCounts): number =>
  owed - succeeded - exhausted - skipped;

export const addCounts = (a: LedgerCounts, b: LedgerCounts): LedgerCounts => ({
  owed: a.owed + b.owed,
  succeeded: a.succeeded + b.succeeded,
  exhausted: a.exhausted + b.exhausted,
  skipped: a.skipped + b.skipped,
  duplicates: a.duplicates + b.duplicates,
});

/** What one delivery counts for. */
export function toCounts({ kind, delivery }: DeliveryChange): LedgerCounts {
  const added = kind === 'added' ? { ...NO_COUNTS, owed: 1 } : NO_COUNTS;
  // A delivery to a disabled endpoint is added as skipped: nothing further will be heard of it.
  return isOver(delivery) ? addCounts(added, countEnd(delivery)) : added;
}

const isOver = ({ status }: Delivery): boolean => status !== 'pending' && status !== 'retrying';

const countEnd = ({ status, attempts, attemptLog }: Delivery): LedgerCounts => ({
  ...NO_COUNTS,
  succeeded: status === 'succeeded' ? 1 : 0,
  exhausted: status === 'exhausted' ? 1 : 0,
  skipped: status === 'skipped' ? 1 : 0,
  duplicates: Math.max(0, attempts - attemptLog.length),
});

/** Names the entry that a delivery is counted in. */
export const buildEntryKey = (delivery: Pick<Delivery, 'id' | 'webhookId' | 'generation'>): string =>
  `${delivery.webhookId}#${delivery.generation}#${getLedgerHour(delivery)}`;

/** What is to be added to an entry. */
export type LedgerAddition = LedgerEntry & { orgId: OrgId };

/** Sums changes by endpoint, generation and hour. */
export function sumChanges(changes: readonly DeliveryChange[]): LedgerAddition[] {
  const entries = new Map<string, LedgerAddition>();
  for (const change of changes) {
    const { orgId, webhookId, generation } = change.delivery;
    const key = buildEntryKey(change.delivery);
    const counts = addCounts(entries.get(key) ?? NO_COUNTS, toCounts(change));
    entries.set(key, { ...counts, orgId, webhookId, generation, hour: getLedgerHour(change.delivery) });
  }
  return [...entries.values()];
}

/**
 * What the ledger says of an endpoint, for its owner.
 * @param count how many hours it is about, as for `latestHours`
 * @param entries the ledger's, of these hours and this endpoint, in any order
 */
export function buildEndpointStats(
  webhookId: ReceiverId,
  { now, count }: { now: Date; count: number },
  entries: readonly LedgerEntry[],
) {
  const newestFirst = entries.toSorted((one, other) => (one.hour < other.hour ? 1 : -1));
  return {
    webhookId,
    from: getHourBefore(now, count - 1),
    to: toEndOfHour(toStartOfHour(now)).toISOString(),
    totals: toShownCounts(newestFirst.reduce<LedgerCounts>(addCounts, NO_COUNTS)),
    oldestPending: findOldestPending(entries),
    hours: newestFirst.map((entry) => ({ hour: entry.hour, ...toShownCounts(entry) })),
  };
}

/** What is shown of an endpoint among others. */
interface EndpointSummary extends Pick<Endpoint, 'id' | 'url' | 'status' | 'consecutiveFailures'> {
  failing: object | null;
  disabledAt?: Endpoint['disabledAt'] | null;
  disabledReason?: Endpoint['disabledReason'] | null;
  /** ISO 8601. */
  waitingSince: string | null;
}

/** A delivery that has not ended after so long waits: nothing was there to take it, or it was refused. */
export const WAITING_MS = 60_000;

/**
 * The beginning of the earliest hour of each endpoint with deliveries that have not ended; the others are
 * left out.
 */
export const findOldestOpenHours = (entries: readonly LedgerEntry[]): Map<ReceiverId, string> =>
  new Map(
    [...Map.groupBy(entries, ({ webhookId }) => webhookId)].flatMap(([id, own]) => {
      const hour = findOldestPending(own);
      return hour === null ? [] : [[id, hour] as const];
    }),
  );

/**
 * What the ledger says of all endpoints of an organization together, and of each.
 * @param endpoints in the order in which they are shown
 * @param count how many hours it is about, as for `latestHours`
 * @param entries the ledger's, of these hours and endpoints, in any order
 */
export function buildDeliveryStats(
  endpoints: readonly EndpointSummary[],
  { now, count }: { now: Date; count: number },
  entries: readonly LedgerEntry[],
) {
  const byHour = Map.groupBy(entries, ({ hour }) => hour);
  const byEndpoint = Map.groupBy(entries, ({ webhookId }) => webhookId);
  const sum = (some: readonly LedgerEntry[]) =>
    toShownCounts(some.reduce<LedgerCounts>(addCounts, NO_COUNTS));
  const totals = sum(entries);
  return {
    from: getHourBefore(now, count - 1),
    to: toEndOfHour(toStartOfHour(now)).toISOString(),
    totals,
    backlog: { pending: totals.pending, oldestPending: findOldestPending(entries) },
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
        oldestPending: findOldestPending(own),
        waitingSince: endpoint.waitingSince,
      };
    }),
  };
}

/** Beginning of the earliest hour with deliveries that have not ended. */
const findOldestPending = (entries: readonly LedgerEntry[]): string | null =>
  entries.flatMap((entry) => (countOpen(entry) > 0 ? [entry.hour] : [])).sort()[0] ?? null;

const toShownCounts = (counts: LedgerCounts) => ({
  ...addCounts(NO_COUNTS, counts),
  pending: countOpen(counts),
});
