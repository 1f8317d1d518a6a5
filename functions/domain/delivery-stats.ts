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

/** So many hours of the clock, newest first. The one under way is among them. */
export const latestHours = (now: Date, count: number): string[] =>
  Array.from({ length: count }, (_, back) => hourBefore(now, back));

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
    oldestPending: newestFirst.findLast((entry) => openIn(entry) > 0)?.hour ?? null,
    hours: newestFirst.map((entry) => ({ hour: entry.hour, ...shown(entry) })),
  };
}

const shown = (counts: LedgerCounts) => ({ ...plus(NOTHING, counts), pending: openIn(counts) });
