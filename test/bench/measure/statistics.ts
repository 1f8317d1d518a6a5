/** The spread of a figure's runs, and its measure. */
export interface Spread {
  value: number;
  is: 'half the interquartile range' | 'half the range' | 'one run';
}

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

/** The spread of the runs; unknown for one run. */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length < 2) return { value: 0, is: 'one run' };
  if (values.length < RUNS_FOR_QUARTILES)
    return { value: (Math.max(...values) - Math.min(...values)) / 2, is: 'half the range' };
  return {
    value: (between(values, 0.75) - between(values, 0.25)) / 2,
    is: 'half the interquartile range',
  };
}

/** A quantile, interpolated between two ranks. */
function between(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (high - low) * (place - Math.floor(place));
}
