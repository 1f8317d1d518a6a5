import { CsvError, parse } from 'csv-parse/sync';
import { addRow, Collector, ContentProblem, checkSize, type Reading } from './text.ts';

/**
 * Rows of a file with commas, semicolons, tabs or bars between its cells (RFC 4180, read leniently), one a
 * line.
 */
export function readCsv(csv: string): Reading {
  const collector = new Collector();
  let rows = 0;
  let cells = 0;
  const take = (row: string[]): null => {
    rows += 1;
    cells += row.length;
    checkSize({ rows, cells });
    addRow(row, collector);
    // Rows that were taken are not kept.
    return null;
  };
  try {
    parse(csv, {
      delimiter: delimiterOf(csv),
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      on_record: take,
    });
  } catch (error) {
    throw error instanceof CsvError ? new ContentProblem('the content is not valid CSV') : error;
  }
  return { text: collector.text() };
}

const DELIMITERS = [',', ';', '\t', '|'];

/** The one that is most often in the first line. */
function delimiterOf(csv: string): string {
  const firstLine = /^[^\r\n]{0,10000}/.exec(csv.slice(0, 20_000).trimStart())?.[0] ?? '';
  const count = (delimiter: string) => firstLine.split(delimiter).length;
  return DELIMITERS.reduce((best, next) => (count(next) > count(best) ? next : best));
}
