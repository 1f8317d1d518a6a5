interface Hours {
  from: string;
  hours: readonly { hour: string; exhausted: number; skipped: number }[];
}

const HOUR_MS = 3_600_000;

/**
 * Counts the deliveries of an endpoint that failed or were skipped.
 * @param stats by hour
 * @param since ISO 8601
 * @returns the count, and whether the statistics begin before `since`
 */
export function countMissed({ from, hours }: Hours, since: string): { count: number; isWhole: boolean } {
  const first = Math.floor(Date.parse(since) / HOUR_MS) * HOUR_MS;
  const counted = hours.filter(({ hour }) => Date.parse(hour) >= first);
  return {
    count: counted.reduce((sum, { exhausted, skipped }) => sum + exhausted + skipped, 0),
    isWhole: Date.parse(from) <= Date.parse(since),
  };
}
