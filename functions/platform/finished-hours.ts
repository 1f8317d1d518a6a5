import type { ReceiverId } from '../domain/ids.ts';
import { countOpen, getHourBefore, type HourRange, type LedgerEntry } from '../domain/ledger.ts';

/** Reads what is counted of an endpoint in some hours. */
type ReadHours = (endpoint: ReceiverId, generation: number, hours: HourRange) => Promise<LedgerEntry[]>;

/** Hours after which an hour may be finished: all attempts of its deliveries span little more than one. */
const SETTLED_HOURS = 3;
/** How old the counts of finished hours may be: a late stream record or the audit can still change them. */
const FRESH_MS = 10 * 60_000;
/** Endpoints whose finished hours an instance keeps at most, some 50 KB each. */
const KEPT = 200;

/**
 * Keeps what was read of finished hours, so that an instance which is asked again reads the last few hours
 * alone. An hour is finished when it began more than three hours ago and none of its deliveries is open, nor
 * any of an earlier hour.
 */
export function keepFinishedHours(read: ReadHours) {
  const kept = new Map<string, { first: string; next: string; until: number; entries: LedgerEntry[] }>();

  /** @param hours up to the present one */
  return async (
    endpoint: ReceiverId,
    generation: number,
    { first, last }: HourRange,
    now: Date,
  ): Promise<LedgerEntry[]> => {
    const key = `${endpoint}#${generation}`;
    const known = kept.get(key);
    if (known !== undefined && known.until > now.getTime() && known.first <= first) {
      const finished = known.entries.filter(({ hour }) => hour >= first);
      const rest = { first: first > known.next ? first : known.next, last };
      return [...finished, ...(await read(endpoint, generation, rest))];
    }
    const entries = await read(endpoint, generation, { first, last });
    const open = entries.filter((entry) => countOpen(entry) > 0).map(({ hour }) => hour);
    const [next = first] = [getHourBefore(now, SETTLED_HOURS), ...open].sort();
    if (kept.size >= KEPT) kept.clear();
    kept.set(key, {
      first,
      next,
      until: now.getTime() + FRESH_MS,
      entries: entries.filter(({ hour }) => hour < next),
    });
    return entries;
  };
}
