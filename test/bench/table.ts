import type { Paint } from 'terminal/paint.ts';
import type { Block, Figure } from './figure.ts';

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
  const headOf = (part: 'measure' | 'unit') =>
    `${''.padEnd(first)}${columns.map((column) => column[part].padStart(GAP + column.width)).join('')}`.trimEnd();
  const heads = [headOf('measure'), headOf('unit')].filter((line) => line !== '');
  const rows = subjects.map(
    (subject) => subject.padEnd(first) + columns.map((column) => cellIn(column, subject, paint)).join(''),
  );
  const lines = [...heads.map((line) => paint('dim', line)), ...rows.map((line) => line.trimEnd())];
  const below = notes.map((note) => paint('dim', wrapped(note)));
  return [`  ${paint('bold', title)}`, '', ...lines.map((line) => `  ${line}`), ...below, ''].join('\n');
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
  const unit = unique(figures.map((figure) => (figure.unit === 'count' ? '' : figure.unit))).join(', ');
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

const cellOf = ({ median, spread }: Figure) => ({
  value: short(median),
  spread: spread > 0 ? ` ±${short(spread, 2)}` : '',
});

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** With three digits, and all before the point. */
export function short(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return '-';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(Math.abs(value) >= 100 ? 3 : digits)));
}

/** Lines of the usual width of a terminal. */
const wrapped = (text: string): string => text.replace(/(.{1,116})(?: |$)/g, '  $1\n').trimEnd();
