import { ContentProblem } from './problem.ts';
import type { Collector } from './text.ts';

const MAX_ROWS = 100_000;
const MAX_CELLS = 1_000_000;

const tooManyRows = () => new ContentProblem(`the spreadsheet has more than ${MAX_ROWS} rows`);
export const tooManyCells = () => new ContentProblem(`the spreadsheet has more than ${MAX_CELLS} cells`);

/** @throws ContentProblem when so many are not read */
export function checkSize({ rows, cells }: { rows: number; cells: number }): void {
  if (rows > MAX_ROWS) throw tooManyRows();
  if (cells > MAX_CELLS) throw tooManyCells();
}

/** A row as a line of its cells that are not empty. One by one: a row may say a long text a thousand times. */
export function addRow(cells: readonly string[], collector: Collector): void {
  let separator = '';
  for (const cell of cells) {
    const text = cell.trim();
    if (text === '') continue;
    collector.add(separator);
    collector.add(text);
    separator = ' | ';
  }
  if (separator !== '') collector.add('\n');
}
