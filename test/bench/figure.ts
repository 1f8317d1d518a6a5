import { median, type Spread, spreadOf } from './measure/statistics.ts';

/** What a number counts; tells how it is written. */
export type Unit =
  | 'ms'
  | 's'
  | '/s'
  | 'x'
  | 'units'
  | 'requests'
  | 'records'
  | 'bytes'
  | 'KiB'
  | 'MiB'
  | 'USD'
  | 'count';

/** Something that was measured, in a table the cell of a row and a column. */
export interface Figure {
  /** What it is of: the row. */
  subject: string;
  /** What was measured of it: the column. */
  measure: string;
  unit: Unit;
  better: 'less' | 'more' | 'neither';
  /** Counted, and not timed: it is the same in each run, on any machine. */
  exact: boolean;
  runs: number;
  median: number;
  spread: Spread;
  /** Of each run. */
  values: readonly number[];
}

/** Figures that belong together, and what has to be known of them. */
export interface Block {
  title: string;
  figures: readonly Figure[];
  notes?: readonly string[];
}

/** @param values of each run */
export function figure(
  subject: string,
  measure: string,
  values: number | readonly number[],
  { unit, better = 'less', exact = false }: { unit: Unit; better?: Figure['better']; exact?: boolean },
): Figure {
  const all = typeof values === 'number' ? [values] : values;
  const spread = spreadOf(all);
  return {
    subject,
    measure,
    unit,
    better,
    exact,
    runs: all.length,
    median: rounded(median(all)),
    spread: { ...spread, value: rounded(spread.value) },
    values: all.map(rounded),
  };
}

/** Six digits are more than any of them has. */
const rounded = (value: number): number => Number(value.toPrecision(6));

/** Tells figures apart, also from one report to another. */
export const nameOf = ({ subject, measure }: Pick<Figure, 'subject' | 'measure'>, section: string): string =>
  `${section} / ${subject} / ${measure}`;
