/** What became of deliveries, as the statistics count them. */
export interface Counts {
  succeeded: number;
  exhausted: number;
  skipped: number;
  pending: number;
}

/** A bar of the chart: from `start` on, so many hours. */
export interface Bucket extends Counts {
  start: string;
}

const HOUR_MS = 3_600_000;
const NOTHING: Counts = { succeeded: 0, exhausted: 0, skipped: 0, pending: 0 };

/**
 * Hours of the clock as bars, oldest first, those without deliveries among them. So many hours go into one
 * bar that there are not more bars than asked for.
 * @param range ISO 8601, of whole hours; `to` is not in it
 */
export function bucketsOf(
  hours: readonly (Counts & { hour: string })[],
  range: { from: string; to: string },
  most: number,
): Bucket[] {
  const from = Date.parse(range.from);
  const count = hoursIn(range);
  const size = hoursOfBar(range, most);
  const buckets = Array.from({ length: Math.ceil(count / size) }, (_, index) => ({
    start: new Date(from + index * size * HOUR_MS).toISOString(),
    ...NOTHING,
  }));
  for (const hour of hours) {
    const bucket = buckets[Math.floor((Date.parse(hour.hour) - from) / HOUR_MS / size)];
    if (bucket === undefined) continue;
    bucket.succeeded += hour.succeeded;
    bucket.exhausted += hour.exhausted;
    bucket.skipped += hour.skipped;
    bucket.pending += hour.pending;
  }
  return buckets;
}

const hoursIn = ({ from, to }: { from: string; to: string }): number =>
  Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / HOUR_MS));

/** How many hours a bar stands for. */
export const hoursOfBar = (range: { from: string; to: string }, most: number): number =>
  Math.max(1, Math.ceil(hoursIn(range) / most));

export const totalOf = ({ succeeded, exhausted, skipped, pending }: Counts): number =>
  succeeded + exhausted + skipped + pending;

/**
 * The share of deliveries that arrived among those that have ended; undefined where none has. A skipped one
 * did not arrive.
 */
export function successRate({
  succeeded,
  exhausted,
  skipped,
}: Pick<Counts, 'succeeded' | 'exhausted' | 'skipped'>): number | undefined {
  const ended = succeeded + exhausted + skipped;
  return ended === 0 ? undefined : succeeded / ended;
}

/** The smallest number of one digit, or of one and zeros, that a chart up to `value` can end at. */
export function roundUp(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return Math.ceil(value / power) * power;
}
