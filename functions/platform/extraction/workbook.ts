import readXlsxFile from 'read-excel-file/universal';
import { ContentProblem } from './problem.ts';
import type { Reading } from './read.ts';
import { addRow, checkSize, tooManyCells } from './table.ts';
import { Collector } from './text.ts';
import { checkXml } from './xml.ts';
import { unzip, zipStored } from './zip.ts';

const MAX_SHEETS = 100;

/** What a sheet may have (ECMA-376): XFD1048576. */
const LAST_ROW = 1_048_576;
const LAST_COLUMN = 16_384;

/** The reader fills up what lies between cells, so that two of them in opposite corners would cost all cells there can be. */
const MAX_AREA = 5_000_000;

/** Cells of all sheets of an XLSX workbook as text, one row a line: what formulas gave, not the formulas. */
export async function readWorkbook(archive: Uint8Array): Promise<Reading> {
  const files = unzip(archive, (name) => /\.(?:xml|rels)$/i.test(name));
  checkFiles(files);
  checkSheetFiles(files);
  const sheets = await parsed(zipStored(files).buffer);

  const collector = new Collector();
  let rows = 0;
  for (const { sheet, data } of sheets) {
    if (sheets.length > 1) collector.add(`${sheet}\n`);
    for (const row of data) {
      rows += 1;
      checkSize({ rows, cells: 0 });
      addRow(row.map(textOf), collector);
    }
  }
  return { text: collector.text() };
}

const ADDRESS = /\br\s*=\s*["']([A-Za-z]*)(\d+)["']/g;

/** Judges by the text of the files, before anything is built of it, how large the sheets will be. */
function checkFiles(files: ReadonlyMap<string, Uint8Array>): void {
  let sheets = 0;
  let area = 0;
  for (const file of files.values()) {
    const xml = Buffer.from(file.buffer, file.byteOffset, file.byteLength).toString('latin1');
    checkXml(xml, 'spreadsheet');
    if (!xml.includes('sheetData')) continue;
    sheets += 1;
    if (sheets > MAX_SHEETS) throw new ContentProblem(`the spreadsheet has more than ${MAX_SHEETS} sheets`);
    area += areaOf(xml);
    if (area > MAX_AREA) throw tooManyCells();
  }
}

/**
 * Refuses a workbook that names a file which it lacks. The library throws at such a file while it reads the sheets before
 * it, whose own failures then reject promises that nothing handles.
 */
function checkSheetFiles(files: ReadonlyMap<string, Uint8Array>): void {
  const relations = Buffer.from(files.get('xl/_rels/workbook.xml.rels') ?? []).toString();
  for (const [relation] of relations.matchAll(/<Relationship\b[^>]*>/g)) {
    const target = /\bTarget\s*=\s*["']([^"']*)["']/.exec(relation)?.[1] ?? '';
    const path = target.startsWith('/') ? target.slice(1) : `xl/${target}`;
    if (/\/worksheet["']/.test(relation) && !files.has(path)) throw invalid();
  }
}

function areaOf(sheet: string): number {
  let rows = 0;
  let columns = 0;
  for (const [, column = '', row] of sheet.matchAll(ADDRESS)) {
    rows = Math.max(rows, Number(row));
    columns = Math.max(columns, column === '' ? 0 : columnNumber(column));
  }
  if (rows > LAST_ROW || columns > LAST_COLUMN) throw invalid();
  return rows * Math.max(1, columns);
}

/** "A" is 1, "AA" is 27. */
const columnNumber = (letters: string): number =>
  [...letters.toUpperCase()].reduce((number, letter) => 26 * number + letter.charCodeAt(0) - 64, 0);

const invalid = () => new ContentProblem('the content is not a valid spreadsheet');

async function parsed(archive: ArrayBuffer) {
  try {
    return await readXlsxFile(archive);
  } catch (error) {
    throw error instanceof RangeError ? error : invalid();
  }
}

/** Declared by the library as the constructor of dates where it gives dates. */
function textOf(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date) return dateText(cell);
  return typeof cell === 'boolean' ? String(cell).toUpperCase() : String(cell);
}

/** Without the time where there is none. */
const dateText = (date: Date): string =>
  Number.isNaN(date.getTime()) ? '' : date.toISOString().replace(/T00:00:00\.000Z$/, '');
