import { CsvError, parse } from 'csv-parse/sync';
import { Table } from './table.ts';
import type { Reading } from './text.ts';

/** Line by which Excel names the delimiter. */
const DELIMITER_LINE = /^"?sep=(.)"?(?:\r\n?|\n|$)/i;

/** Reads rows of CSV with commas, semicolons, tabs or bars (RFC 4180, leniently), one per line. */
export function readCsv(csv: string): Reading {
  const [line = '', delimiter] = DELIMITER_LINE.exec(csv) ?? [];
  const rows = csv.slice(line.length);
  const read = (quote: '"' | false): Reading => {
    const table = new Table();
    parse(rows, {
      delimiter: delimiter ?? detectDelimiter(rows),
      quote,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      on_record(row: string[]) {
        table.addRow(row);
        // Null drops the row, which is processed.
        return null;
      },
    });
    return { text: table.text() };
  };
  try {
    return read('"');
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // A quote without an end is part of the text.
    return read(false);
  }
}

const DELIMITERS = [',', ';', '\t', '|'];

/** Returns the most frequent candidate in the first line that has one outside quotes. */
function detectDelimiter(csv: string): string {
  const lines = csv
    .slice(0, 20_000)
    .replace(/"[^"]*"/g, '')
    .split(/[\r\n]+/);
  const countFields = (line: string, delimiter: string) => line.split(delimiter).length;
  const line = lines.find((text) => DELIMITERS.some((delimiter) => text.includes(delimiter))) ?? '';
  return DELIMITERS.reduce((best, next) => (countFields(line, next) > countFields(line, best) ? next : best));
}
