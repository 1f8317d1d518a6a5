import { execFileSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { grid } from 'terminal/grid.ts';
import type { Paint } from 'terminal/paint.ts';
import { median, spreadOf } from '../support/statistics.ts';

/** A measured value: a cell of a table. */
interface Figure {
  /** The row. */
  subject: string;
  /** The column. */
  measure: string;
  unit: 'ms' | 's' | '/s' | 'x' | 'KiB' | 'MiB' | '';
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
  unit: Figure['unit'] = '',
): Figure {
  const all = [values].flat();
  return { subject, measure, unit, median: median(all), spread: spreadOf(all), values: all };
}

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

/** A block as a table: a row for each subject, a column for each measure, cells with median and spread. */
export function renderBlock({ title, figures, notes = [] }: Block, paint: Paint): string {
  const subjects = [...new Set(figures.map(({ subject }) => subject))];
  const measures = [...new Set(figures.map(({ measure }) => measure))];
  const cell = (subject: string, measure: string): string => {
    const found = figures.find((one) => one.subject === subject && one.measure === measure);
    if (found === undefined) return '';
    const spread = found.spread > 0 ? ` ±${short(found.spread)}` : '';
    return `${short(found.median)}${spread} ${found.unit}`.trimEnd();
  };
  const rows = subjects.map((subject) => [subject, ...measures.map((measure) => cell(subject, measure))]);
  const below = notes.map((note) => paint('dim', `  ${note}`));
  return [`  ${paint('bold', title)}`, grid(['', ...measures], rows, paint), ...below, ''].join('\n');
}

/** With three digits, and all before the point. */
const short = (value: number): string =>
  String(Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3)));

/**
 * The commit and the machine of a measurement. When the load average of the last minute exceeds the number of
 * processors, times mean little.
 */
export function describeMachine(): string {
  const [first] = cpus();
  const load = (loadavg()[0] ?? 0).toFixed(2);
  const commit = execFileSync('git', ['describe', '--always', '--dirty=+'], { encoding: 'utf8' }).trim();
  return `${commit} on ${cpus().length} x ${first?.model.trim()}, Node.js ${process.version}, load ${load}`;
}
