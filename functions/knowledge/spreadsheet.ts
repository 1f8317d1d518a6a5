import { CsvError, parse } from 'csv-parse/sync';
import readXlsxFile from 'read-excel-file/universal';
import {
  addRow,
  Collector,
  ContentProblem,
  checkSize,
  checkXml,
  type Reading,
  tooManyCells,
} from './text.ts';
import { type Archive, openArchive, type PackedFile, tooLarge, zipStored } from './zip.ts';

const MAX_SHEETS = 100;

/** Last cell of a sheet (ECMA-376): XFD1048576. */
const LAST_ROW = 1_048_576;
const LAST_COLUMN = 16_384;

/** Cells. The parser fills the area between cells, so two distant cells would cost all cells between them. */
const MAX_AREA = 5_000_000;

/** Bytes that one pass may unpack. The parser holds them twice, and once more as text. */
const MAX_PASS_BYTES = 32 * 1024 * 1024;
/** Bytes of sheets per pass. Sheets are grouped, because each pass reads shared texts and styles again. */
const PASS_BYTES = 8 * 1024 * 1024;
/** Bytes above which files that the workbook does not name, such as pivot caches, are skipped. */
const UNNAMED_BYTES = 1024 * 1024;

const RELATIONS = 'xl/_rels/workbook.xml.rels';
/** Placeholder for a sheet that another pass reads. */
const EMPTY_SHEET = Buffer.from('<worksheet><sheetData/></worksheet>');

/**
 * Reads the cells of all sheets of an XLSX workbook as text, one row per line, with results of formulas.
 * Reads a few sheets per pass, so that memory never holds the whole unpacked workbook.
 */
export async function readWorkbook(packed: Uint8Array): Promise<Reading> {
  const archive = await openArchive(packed, (name) => /\.(?:xml|rels)$/i.test(name));
  const { sheets, common } = await checkFiles(archive);

  const titles: string[] = [];
  const texts: string[] = [];
  let rows = 0;
  for (const pass of parseInPasses(sheets, common)) {
    const files = [...common, ...sheets.map((file) => (pass.includes(file) ? file : { name: file.name }))];
    for (const [index, { sheet, data }] of (await parseWorkbook(archive, files)).entries()) {
      titles[index] = sheet;
      const lines = new Collector();
      for (const row of data) {
        rows += 1;
        checkSize({ rows, cells: 0 });
        addRow(row.map(formatCell), lines);
      }
      // Each sheet has rows in one pass only.
      texts[index] = `${texts[index] ?? ''}${lines.joined()}`;
    }
  }
  const collector = new Collector();
  for (const [index, text] of texts.entries()) {
    if (texts.length > 1) collector.add(`${titles[index]}\n`);
    collector.add(text);
  }
  return { text: collector.text() };
}

/** @throws ContentProblem when a pass would exceed its bytes */
function parseInPasses(sheets: readonly PackedFile[], common: readonly PackedFile[]): PackedFile[][] {
  const sumSizes = (files: readonly PackedFile[]) => files.reduce((sum, { size }) => sum + size, 0);
  const passes: PackedFile[][] = [[]];
  for (const sheet of sheets) {
    const last = passes.at(-1) ?? [];
    if (last.length > 0 && sumSizes(last) + sheet.size > PASS_BYTES) passes.push([sheet]);
    else last.push(sheet);
  }
  for (const pass of passes) if (sumSizes(pass) + sumSizes(common) > MAX_PASS_BYTES) throw tooLarge();
  return passes;
}

const ADDRESS = /\br\s*=\s*["']([A-Za-z]*)(\d+)["']/g;

/**
 * Estimates the size of the sheets before they are parsed, unpacking one file at a time.
 * @returns the sheets, and the other files that the workbook names
 */
async function checkFiles(archive: Archive): Promise<{ sheets: PackedFile[]; common: PackedFile[] }> {
  const place = Buffer.alloc(Math.max(0, ...archive.files.map(({ size }) => size)));
  const sheets: PackedFile[] = [];
  let area = 0;
  let relations = '';
  for (const file of archive.files) {
    await archive.unpackInto(place, file);
    const xml = place.toString('latin1', 0, file.size);
    checkXml(xml, 'spreadsheet');
    if (file.name === RELATIONS) relations = place.toString('utf8', 0, file.size);
    if (!xml.includes('sheetData')) continue;
    sheets.push(file);
    if (sheets.length > MAX_SHEETS)
      throw new ContentProblem(`the spreadsheet has more than ${MAX_SHEETS} sheets`);
    area += parseArea(xml);
    if (area > MAX_AREA) throw tooManyCells();
  }
  checkSheetFiles(relations, new Set(archive.files.map(({ name }) => name)));
  const isNamed = (name: string) => relations.includes(name.slice(name.lastIndexOf('/') + 1));
  const common = archive.files.filter(
    (file) => !sheets.includes(file) && (file.size <= UNNAMED_BYTES || isNamed(file.name)),
  );
  return { sheets, common };
}

/**
 * Refuses a workbook that names a missing file. The library throws for such a file while it reads earlier
 * sheets, whose failures then become unhandled rejections.
 */
function checkSheetFiles(relations: string, names: ReadonlySet<string>): void {
  for (const [relation] of relations.matchAll(/<Relationship\b[^>]*>/g)) {
    const target = /\bTarget\s*=\s*["']([^"']*)["']/.exec(relation)?.[1] ?? '';
    const path = target.startsWith('/') ? target.slice(1) : `xl/${target}`;
    if (/\/worksheet["']/.test(relation) && !names.has(path)) throw invalid();
  }
}

function parseArea(sheet: string): number {
  let rows = 0;
  let columns = 0;
  for (const [, column = '', row] of sheet.matchAll(ADDRESS)) {
    rows = Math.max(rows, Number(row));
    columns = Math.max(columns, column === '' ? 0 : parseColumn(column));
  }
  if (rows > LAST_ROW || columns > LAST_COLUMN) throw invalid();
  return rows * Math.max(1, columns);
}

/** "A" is 1, "AA" is 27. */
const parseColumn = (letters: string): number =>
  [...letters.toUpperCase()].reduce((number, letter) => 26 * number + letter.charCodeAt(0) - 64, 0);

const invalid = () => new ContentProblem('the content is not a valid spreadsheet');

/** @param files those without a size become empty sheets */
async function parseWorkbook(archive: Archive, files: readonly (PackedFile | { name: string })[]) {
  const stored = await zipStored(
    files.map((file) => ('size' in file ? file : { ...file, size: EMPTY_SHEET.length, isEmpty: true })),
    async (target, file) => {
      if ('isEmpty' in file) target.set(EMPTY_SHEET);
      else await archive.unpackInto(target, file);
    },
  );
  try {
    return await readXlsxFile(stored);
  } catch (error) {
    throw error instanceof RangeError ? error : invalid();
  }
}

/** Takes unknown, because the library declares the constructor `Date` as the type of date cells. */
function formatCell(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date) return formatDate(cell);
  return typeof cell === 'boolean' ? String(cell).toUpperCase() : String(cell);
}

/** Leaves out the time if it is midnight. */
const formatDate = (date: Date): string =>
  Number.isNaN(date.getTime()) ? '' : date.toISOString().replace(/T00:00:00\.000Z$/, '');

/** Reads rows of CSV with commas, semicolons, tabs or bars (RFC 4180, leniently), one per line. */
export function readCsv(csv: string): Reading {
  const collector = new Collector();
  let rows = 0;
  let cells = 0;
  const addRecord = (row: string[]): null => {
    rows += 1;
    cells += row.length;
    checkSize({ rows, cells });
    addRow(row, collector);
    // Null drops the row, which is processed.
    return null;
  };
  try {
    parse(csv, {
      delimiter: detectDelimiter(csv),
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      on_record: addRecord,
    });
  } catch (error) {
    throw error instanceof CsvError ? new ContentProblem('the content is not valid CSV') : error;
  }
  return { text: collector.text() };
}

const DELIMITERS = [',', ';', '\t', '|'];

/** Returns the most frequent candidate in the first line. */
function detectDelimiter(csv: string): string {
  const firstLine = /^[^\r\n]{0,10000}/.exec(csv.slice(0, 20_000).trimStart())?.[0] ?? '';
  const countFields = (delimiter: string) => firstLine.split(delimiter).length;
  return DELIMITERS.reduce((best, next) => (countFields(next) > countFields(best) ? next : best));
}
