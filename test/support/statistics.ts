/** The number of runs from which quartiles are meaningful. */
const RUNS_FOR_QUARTILES = 4;

/**
 * The value below which a share of all lie, by nearest rank, so that it is a measured one.
 * @param values in any order
 * @param share from 0 to 1
 * @returns NaN when there are none
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.ceil(share * sorted.length);
  return sorted[Math.min(sorted.length, Math.max(1, rank)) - 1] ?? Number.NaN;
}

/**
 * The middle value, or the mean of the two in the middle.
 * @returns NaN when there are none
 */
export const median = (values: readonly number[]): number => between(values, 0.5);

/** Half the range of few runs, half the interquartile range of more; 0 for one run. */
export function spreadOf(values: readonly number[]): number {
  if (values.length < 2) return 0;
  if (values.length < RUNS_FOR_QUARTILES) return (Math.max(...values) - Math.min(...values)) / 2;
  return (between(values, 0.75) - between(values, 0.25)) / 2;
}

/** A quantile, interpolated between two ranks. */
function between(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (high - low) * (place - Math.floor(place));
}
