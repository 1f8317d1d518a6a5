import { TimedCache } from '../aws/cache.ts';
import type { ReceiverId } from '../aws/ids.ts';
import { countOpen, getHourBefore, type HourRange, type LedgerEntry } from './ledger.ts';

type ReadHours = (endpoint: ReceiverId, generation: number, hours: HourRange) => Promise<LedgerEntry[]>;

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
export function keepFinishedHours(read: ReadHours) {
  const kept = new TimedCache<string, { first: string; next: string; entries: LedgerEntry[] }>({
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
    const known = kept.get(key, now);
    if (known !== undefined && known.first <= first) {
      const finished = known.entries.filter(({ hour }) => hour >= first);
      const rest = { first: first > known.next ? first : known.next, last };
      return [...finished, ...(await read(endpoint, generation, rest))];
    }
    const entries = await read(endpoint, generation, { first, last });
    const open = entries.filter((entry) => countOpen(entry) > 0).map(({ hour }) => hour);
    const [next = first] = [getHourBefore(now, SETTLED_HOURS), ...open].sort();
    kept.set(key, { first, next, entries: entries.filter(({ hour }) => hour < next) }, now);
    return entries;
  };
}
