import type { Paint } from 'terminal/paint.ts';
import type { Block, Figure, Unit } from '../figure.ts';
import type { Change, Verdict } from './comparison.ts';
import type { BenchDocument } from './document.ts';

/** The usual width of a terminal. */
const WIDTH = 118;
const GAP = 2;

/**
 * A block as a table: a row for each subject, a column for each measure, cells with the median and then the
 * spread.
 */
export function renderBlock({ title, figures, notes = [] }: Block, paint: Paint): string {
  const subjects = unique(figures.map(({ subject }) => subject));
  const measures = unique(figures.map(({ measure }) => measure));
  const first = Math.max(...subjects.map((subject) => subject.length));
  const columns = measures.map((measure) =>
    columnOf(
      measure,
      figures.filter((figure) => figure.measure === measure),
    ),
  );
  const tables = chunked(columns, WIDTH - first).map((some) => {
    const headOf = (part: 'measure' | 'unit') =>
      `${''.padEnd(first)}${some.map((column) => column[part].padStart(GAP + column.width)).join('')}`.trimEnd();
    const heads = [headOf('measure'), headOf('unit')].filter((line) => line !== '');
    const rows = subjects.map(
      (subject) => subject.padEnd(first) + some.map((column) => cellIn(column, subject, paint)).join(''),
    );
    return [...heads.map((line) => paint('dim', line)), ...rows.map((line) => line.trimEnd())]
      .map((line) => `  ${line}`)
      .join('\n');
  });
  const below = notes.map((note) => paint('dim', wrapped(note)));
  return [`  ${paint('bold', title)}`, '', tables.join('\n\n'), ...below, ''].join('\n');
}

interface Column {
  measure: string;
  unit: string;
  width: number;
  /** The width of the values, which are aligned; spreads follow them. */
  valueWidth: number;
  cells: Map<string, { value: string; spread: string }>;
}

function columnOf(measure: string, figures: readonly Figure[]): Column {
  const unit = unique(figures.map((figure) => unitOf(figure.unit))).join(', ');
  const cells = new Map(figures.map((figure) => [figure.subject, cellOf(figure)]));
  const widest = (of: 'value' | 'spread') => Math.max(...[...cells.values()].map((cell) => cell[of].length));
  const spread = widest('spread');
  const width = Math.max(measure.length, unit.length, widest('value') + spread);
  return { measure, unit, width, valueWidth: width - spread, cells };
}

function cellIn({ cells, width, valueWidth }: Column, subject: string, paint: Paint): string {
  const { value, spread } = cells.get(subject) ?? { value: '', spread: '' };
  const behind = paint('dim', spread) + ''.padEnd(width - valueWidth - spread.length);
  return ''.padEnd(GAP) + value.padStart(valueWidth) + behind;
}

const unitOf = (unit: Unit): string => (unit === 'count' || unit === 'units' ? '' : unit);

function cellOf({ median, spread, runs }: Figure): { value: string; spread: string } {
  return { value: short(median), spread: runs > 1 && spread.value > 0 ? ` ±${short(spread.value, 2)}` : '' };
}

/** As many columns as fit beside one another, the others below. */
function chunked(columns: readonly Column[], width: number): Column[][] {
  const chunks: Column[][] = [];
  let left = 0;
  for (const column of columns) {
    if (column.width + GAP > left) {
      chunks.push([]);
      left = width;
    }
    chunks.at(-1)?.push(column);
    left -= column.width + GAP;
  }
  return chunks;
}

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** With three digits, and all before the point. */
export function short(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return '-';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(Math.abs(value) >= 100 ? 3 : digits)));
}

function wrapped(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length + 1 > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.map((line) => `  ${line}`).join('\n');
}

const LOOKS: Record<Verdict, { style: Parameters<Paint>[0]; word: string }> = {
  better: { style: 'green', word: 'better' },
  worse: { style: 'red', word: 'worse' },
  unclear: { style: 'yellow', word: 'one run: cannot tell' },
  other: { style: 'dim', word: 'differs' },
  same: { style: 'dim', word: 'within twice the spread' },
};

/** Ratios of two reports: first better and worse, then other differences; unchanged figures as a count. */
export function renderComparison(changes: readonly Change[], before: BenchDocument, paint: Paint): string {
  const order: Verdict[] = ['worse', 'better', 'unclear', 'other'];
  const shown = order.flatMap((verdict) => changes.filter((change) => change.verdict === verdict));
  const width = Math.min(WIDTH - 48, Math.max(0, ...shown.map(({ name }) => name.length)));
  const lines = shown.map(({ name, before: was, now, ratio, verdict }) => {
    const { style, word } = LOOKS[verdict];
    const values = `${short(was.median)} → ${short(now.median)}`;
    return `  ${name.padEnd(width)}  ${values.padStart(18)}  ${paint(style, `x ${ratio.toFixed(2)}  ${word}`)}`;
  });
  const same = changes.length - shown.length;
  return [
    `  ${paint('bold', 'Compared')} with ${before.commit} of ${before.begunAt}, on ${before.machine.cpus} x ${before.machine.model}`,
    '',
    ...lines,
    ...(changes.length === 0
      ? ['  The two have no figure in common.']
      : [paint('dim', `  ${same} of ${changes.length} figures are within twice the spread.`)]),
    '',
  ].join('\n');
}
