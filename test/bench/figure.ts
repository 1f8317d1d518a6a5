import { median, type Spread, spreadOf } from './measure/statistics.ts';

/** The unit of a number, which determines its format. */
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

/** A measured value: a cell of a table. */
export interface Figure {
  /** The row. */
  subject: string;
  /** The column. */
  measure: string;
  unit: Unit;
  better: 'less' | 'more' | 'neither';
  /** Counted, not timed: the same in each run, on any machine. */
  exact: boolean;
  runs: number;
  median: number;
  spread: Spread;
  /** Of each run. */
  values: readonly number[];
}

/** Related figures, with notes on them. */
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

/** Identifies a figure, also from one report to another. */
export const nameOf = ({ subject, measure }: Pick<Figure, 'subject' | 'measure'>, section: string): string =>
  `${section} / ${subject} / ${measure}`;
