import { Collector, ContentProblem } from './text.ts';

const MAX_ROWS = 100_000;
const MAX_CELLS = 1_000_000;

const SEPARATOR = ' | ';

/** Collects the rows of a table as lines, within the limits of a spreadsheet. */
export class Table {
  readonly #collector = new Collector();
  #rows = 0;
  #cells = 0;

  addTitle(title: string): void {
    this.#collector.add(`${title}\n`);
  }

  /**
   * Adds the cells that are not empty as a line, one by one, because a row may repeat a long text many times.
   * @throws ContentProblem for too many rows, cells or characters
   */
  addRow(cells: readonly string[]): void {
    this.#rows += 1;
    this.#cells += cells.length;
    if (this.#rows > MAX_ROWS) throw new ContentProblem(`the spreadsheet has more than ${MAX_ROWS} rows`);
    if (this.#cells > MAX_CELLS) throw new ContentProblem(`the spreadsheet has more than ${MAX_CELLS} cells`);
    let isFirst = true;
    for (const cell of cells) {
      const text = cell.trim();
      if (text === '') continue;
      if (!isFirst) this.#collector.add(SEPARATOR);
      this.#collector.add(text);
      isFirst = false;
    }
    if (!isFirst) this.#collector.add('\n');
  }

  text(): string {
    return this.#collector.text();
  }
}
