import * as z from 'zod/mini';
import { OrgId, parseCreationTime, ReceiverId, Timestamp } from '../aws/ids.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import type { AttemptRecord, Delivery } from './delivery.ts';

/**
 * Attempts by their duration: the number of a class and how many attempts it has. Class `n` ends at the
 * `n`-th power of the square root of 2, in milliseconds. The first one begins at 0, the last one has no end.
 */
export const AttemptDurations = z.record(z.string(), z.int());
export type AttemptDurations = z.infer<typeof AttemptDurations>;

/**
 * Counts of an endpoint's deliveries, by the hour of their creation. Once all have ended, `owed = succeeded +
 * exhausted + skipped`.
 */
export const LedgerCounts = z.object({
  owed: z.int(),
  succeeded: z.int(),
  exhausted: z.int(),
  skipped: z.int(),
  /** Attempts whose outcome was lost; the receiver may have got the event once more. */
  duplicates: z.int(),
});
export type LedgerCounts = z.infer<typeof LedgerCounts>;

export const LedgerEntry = z.extend(LedgerCounts, {
  /** Absent in entries written before it was recorded. */
  orgId: z.optional(OrgId),
  webhookId: ReceiverId,
  generation: z.int(),
  /** Start of the hour, UTC. */
  hour: Timestamp,
  /** Attempts of the deliveries that have ended. Absent in entries written before they were counted. */
  durations: z.optional(AttemptDurations),
});
export type LedgerEntry = z.infer<typeof LedgerEntry>;

export const NO_COUNTS: LedgerCounts = { owed: 0, succeeded: 0, exhausted: 0, skipped: 0, duplicates: 0 };

/** A change in the deliveries' stream. One record can be both `added` and `ended`. */
export interface DeliveryChange {
  kind: 'added' | 'ended';
  delivery: Delivery;
}

const MS_PER_HOUR = 3_600_000;

/** The hour that a delivery counts for: that of its id, so that a recount finds it by key. */
export const getLedgerHour = ({ id }: Pick<Delivery, 'id'>): string => toStartOfHour(parseCreationTime(id));

export const toStartOfHour = (time: Date): string =>
  new Date(Math.floor(time.getTime() / MS_PER_HOUR) * MS_PER_HOUR).toISOString();

export const toEndOfHour = (hour: string): Date => new Date(new Date(hour).getTime() + MS_PER_HOUR);

export const getHourBefore = (time: Date, hours: number): string =>
  toStartOfHour(new Date(time.getTime() - hours * MS_PER_HOUR));

/** First and last hour, both included, by their start. */
export interface HourRange {
  first: string;
  last: string;
}

/** @returns the last `count` hours, the current one included */
export const getLatestHours = (now: Date, count: number): HourRange => ({
  first: getHourBefore(now, count - 1),
  last: toStartOfHour(now),
});

export const countOpen = ({ owed, succeeded, exhausted, skipped }: LedgerCounts): number =>
  owed - succeeded - exhausted - skipped;

export const addCounts = (a: LedgerCounts, b: LedgerCounts): LedgerCounts => ({
  owed: a.owed + b.owed,
  succeeded: a.succeeded + b.succeeded,
  exhausted: a.exhausted + b.exhausted,
  skipped: a.skipped + b.skipped,
  duplicates: a.duplicates + b.duplicates,
});

export function toCounts({ kind, delivery }: DeliveryChange): LedgerCounts {
  const added = kind === 'added' ? { ...NO_COUNTS, owed: 1 } : NO_COUNTS;
  // A delivery to a disabled endpoint is added as skipped and does not change again.
  return hasEnded(delivery) ? addCounts(added, countEnd(delivery)) : added;
}

const hasEnded = ({ status }: Delivery): boolean => status !== 'pending' && status !== 'retrying';

const countEnd = ({ status, attempts, attemptLog }: Delivery): LedgerCounts => ({
  ...NO_COUNTS,
  succeeded: status === 'succeeded' ? 1 : 0,
  exhausted: status === 'exhausted' ? 1 : 0,
  skipped: status === 'skipped' ? 1 : 0,
  duplicates: Math.max(0, attempts - attemptLog.length),
});

/** The durations of a delivery's attempts, once it has ended. */
const toDurations = ({ delivery }: Pick<DeliveryChange, 'delivery'>): AttemptDurations =>
  hasEnded(delivery) ? countDurations(delivery.attemptLog) : {};

/** Key of the entry that counts a delivery. */
export const buildEntryKey = (delivery: Pick<Delivery, 'id' | 'webhookId' | 'generation'>): string =>
  `${delivery.webhookId}#${delivery.generation}#${getLedgerHour(delivery)}`;

export type LedgerAddition = LedgerEntry & { orgId: OrgId };

/** Sums changes by endpoint, generation and hour. */
export function sumChanges(changes: readonly DeliveryChange[]): LedgerAddition[] {
  const entries = new Map<string, LedgerAddition>();
  for (const change of changes) {
    const { orgId, webhookId, generation } = change.delivery;
    const key = buildEntryKey(change.delivery);
    const before = entries.get(key);
    entries.set(key, {
      ...addCounts(before ?? NO_COUNTS, toCounts(change)),
      ...withDurations(addDurations(before?.durations, toDurations(change))),
      orgId,
      webhookId,
      generation,
      hour: getLedgerHour(change.delivery),
    });
  }
  return [...entries.values()];
}

/**
 * Statistics of one endpoint.
 * @param count hours, as for `getLatestHours`
 * @param entries of these hours, in any order
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
    latency: sumLatency(entries),
    oldestPending: findOldestPending(entries),
    hours: newestFirst.map((entry) => ({ hour: entry.hour, ...toShownCounts(entry) })),
  };
}

interface EndpointSummary extends Pick<Endpoint, 'id' | 'url' | 'status' | 'consecutiveFailures'> {
  failing: object | null;
  disabledAt?: Endpoint['disabledAt'] | null;
  disabledReason?: Endpoint['disabledReason'] | null;
  /** ISO 8601. */
  waitingSince: string | null;
}

/** Start of the earliest hour with open deliveries, by endpoint. Endpoints without any are left out. */
export const findOldestOpenHours = (entries: readonly LedgerEntry[]): Map<ReceiverId, string> =>
  new Map(
    [...Map.groupBy(entries, ({ webhookId }) => webhookId)].flatMap(([id, own]) => {
      const hour = findOldestPending(own);
      return hour === null ? [] : [[id, hour] as const];
    }),
  );

/**
 * Statistics of all endpoints of an organization, in total and each.
 * @param endpoints in the order of the response
 * @param count hours, as for `getLatestHours`
 * @param entries of these hours and endpoints, in any order
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
    latency: sumLatency(entries),
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
        latency: sumLatency(own),
        oldestPending: findOldestPending(own),
        waitingSince: endpoint.waitingSince,
      };
    }),
  };
}

const sumLatency = (entries: readonly LedgerEntry[]): Latency | null =>
  estimateLatency(entries.reduce((sum, { durations }) => addDurations(sum, durations), {}));

/** Start of the earliest hour with open deliveries. */
const findOldestPending = (entries: readonly LedgerEntry[]): string | null =>
  entries.flatMap((entry) => (countOpen(entry) > 0 ? [entry.hour] : [])).sort()[0] ?? null;

const toShownCounts = (counts: LedgerCounts) => ({
  ...addCounts(NO_COUNTS, counts),
  pending: countOpen(counts),
});

/** Up to 8 ms, and from 8.2 s: a receiver has 10. Few, because each is an attribute of an item below 1 KB. */
const [FIRST_CLASS, LAST_CLASS] = [6, 27];
export const DURATION_CLASSES = /* @__PURE__ */ Array.from(
  { length: LAST_CLASS - FIRST_CLASS + 1 },
  (_, index) => String(FIRST_CLASS + index),
);

const getEnd = (number: number): number => 2 ** (number / 2);

function findClass(durationMs: number): string {
  const number = Math.ceil(2 * Math.log2(Math.max(1, durationMs)));
  return String(Math.min(LAST_CLASS, Math.max(FIRST_CLASS, number)));
}

export const addDurations = (
  some: AttemptDurations = {},
  others: AttemptDurations = {},
): AttemptDurations => {
  const sum = { ...some };
  for (const [number, count] of Object.entries(others)) sum[number] = (sum[number] ?? 0) + count;
  return sum;
};

/** The field of a ledger entry; absent without attempts. */
export const withDurations = (durations: AttemptDurations): { durations?: AttemptDurations } =>
  Object.keys(durations).length === 0 ? {} : { durations };

export function countDurations(attempts: readonly Pick<AttemptRecord, 'durationMs'>[]): AttemptDurations {
  const counts: AttemptDurations = {};
  for (const { durationMs } of attempts) {
    const number = findClass(durationMs);
    counts[number] = (counts[number] ?? 0) + 1;
  }
  return counts;
}

/** Estimates of how long attempts took, in whole milliseconds. */
export interface Latency {
  p50Ms: number;
  p95Ms: number;
}

/** @returns null without attempts */
export function estimateLatency(durations: AttemptDurations): Latency | null {
  const classes = DURATION_CLASSES.map((name) => durations[name] ?? 0);
  const total = classes.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  return { p50Ms: estimateQuantile(classes, total / 2), p95Ms: estimateQuantile(classes, total * 0.95) };
}

/** Attempts of a class are taken to be spread evenly over it. */
function estimateQuantile(classes: readonly number[], wanted: number): number {
  let before = 0;
  for (const [index, count] of classes.entries()) {
    if (before + count >= wanted && count > 0) {
      const end = getEnd(FIRST_CLASS + index);
      const begin = index === 0 ? 0 : getEnd(FIRST_CLASS + index - 1);
      return Math.round(begin + ((wanted - before) / count) * (end - begin));
    }
    before += count;
  }
  return Math.round(getEnd(LAST_CLASS));
}
