import { median, spreadOf } from '../support/statistics.ts';

/** A measured value: a cell of a table. */
export interface Figure {
  /** The row. */
  subject: string;
  /** The column. */
  measure: string;
  unit: 'ms' | 's' | '/s' | 'x' | 'KiB' | 'MiB' | 'count';
  median: number;
  /** Half the range of few runs, half the interquartile range of more; 0 for one run. */
  spread: number;
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
  unit: Figure['unit'] = 'count',
): Figure {
  const all = typeof values === 'number' ? [values] : values;
  return {
    subject,
    measure,
    unit,
    median: rounded(median(all)),
    spread: rounded(spreadOf(all)),
    values: all.map(rounded),
  };
}

/** Six digits are more than any of them has. */
const rounded = (value: number): number => Number(value.toPrecision(6));

/** The options of a section. */
export interface Bench {
  /** Runs of each figure; a section has its own default. */
  runs?: number;
  /** Seconds of each window under load. */
  seconds?: number;
  /** Results that sections share. */
  found: { eventsPerSecond?: number };
  /** Reports progress. */
  progress(text: string): void;
}

/** A part of the benchmark that can run alone. */
export interface Section {
  name: string;
  /** One line for the help. */
  about: string;
  run(bench: Bench): Promise<Block[]>;
}
