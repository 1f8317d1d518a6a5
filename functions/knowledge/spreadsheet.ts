import { crc32 } from 'node:zlib';
import { CsvError, parse } from 'csv-parse/sync';
import readXlsxFile from 'read-excel-file/universal';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { Collector, ContentProblem, checkXml, type Reading } from './text.ts';

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

const MAX_ROWS = 100_000;
const MAX_CELLS = 1_000_000;

const tooManyCells = () => new ContentProblem(`the spreadsheet has more than ${MAX_CELLS} cells`);

/** @throws ContentProblem for a spreadsheet with too many rows or cells */
function checkSize({ rows, cells }: { rows: number; cells: number }): void {
  if (rows > MAX_ROWS) throw new ContentProblem(`the spreadsheet has more than ${MAX_ROWS} rows`);
  if (cells > MAX_CELLS) throw tooManyCells();
}

/** Adds a row's non-empty cells as a line, one by one, because a row may repeat a long text many times. */
function addRow(cells: readonly string[], collector: Collector): void {
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

const MAX_ENTRIES = 1000;
const MAX_ENTRY_BYTES = 30 * 1024 * 1024;
const MAX_BYTES = 50 * 1024 * 1024;

/** Unpacked to packed size. Sheets with few distinct cells come near 100; a ratio over 1,000 is an attack. */
const MAX_RATIO = 300;
const SMALL_BYTES = 1024 * 1024;

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;

const tooLarge = () => new ContentProblem('the spreadsheet is too large when it is unpacked');

/** An entry of an archive's directory; `size` is in bytes, unpacked. */
interface PackedFile {
  name: string;
  size: number;
}

interface Archive {
  readonly files: readonly PackedFile[];
  /**
   * Unpacks a file in chunks into the beginning of `target`.
   * @throws ContentProblem when it is damaged or encrypted, or its size differs from the directory
   */
  unpackInto(target: Uint8Array, file: PackedFile): Promise<void>;
}

/**
 * Opens a zip archive (APPNOTE.TXT 6.3.10) by its directory. Checks sizes before unpacking, and unpacks no
 * more than them.
 * @param isWanted selects files by name
 * @throws ContentProblem when it is damaged, or larger than a spreadsheet may be
 */
async function openArchive(archive: Uint8Array, isWanted: (name: string) => boolean): Promise<Archive> {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  try {
    const zip = await fromBufferPromise(bytes, { lazyEntries: true });
    if (zip.entryCount > MAX_ENTRIES) throw tooLarge();
    const entries = new Map<PackedFile, Entry>();
    let total = 0;
    for await (const entry of zip.eachEntry()) {
      const { fileName: name, compressedSize, uncompressedSize: size } = entry;
      total += size;
      if (size > MAX_ENTRY_BYTES || total > MAX_BYTES) throw tooLarge();
      if (size > SMALL_BYTES && size > MAX_RATIO * compressedSize) throw tooLarge();
      if (isWanted(name)) entries.set({ name, size }, entry);
    }
    const files = [...entries.keys()];
    // Refuse duplicate names: readers differ in which of the files they read.
    if (new Set(files.map(({ name }) => name)).size < files.length) throw invalid();
    return {
      files,
      async unpackInto(target, file) {
        const entry = entries.get(file);
        if (entry === undefined) throw invalid();
        try {
          await unpack(zip, entry, target);
        } catch (error) {
          throw toContentProblem(error);
        }
      },
    };
  } catch (error) {
    throw toContentProblem(error);
  }
}

/** Errors of the library mean that the archive is damaged. */
const toContentProblem = (error: unknown): ContentProblem =>
  error instanceof ContentProblem ? error : invalid();

/** The library refuses encrypted entries, and entries whose size differs from the directory. */
async function unpack(zip: ZipFile, entry: Entry, target: Uint8Array): Promise<void> {
  if (!entry.canDecodeFileData()) throw invalid();
  let filled = 0;
  for await (const piece of await zip.openReadStreamPromise(entry)) {
    target.set(piece, filled);
    filled += piece.length;
  }
}

/**
 * Builds an archive of uncompressed files, so that the parser reads exactly what was checked. Unpacks each
 * file into its place, so that memory holds only the archive.
 * @param write writes the content of a file
 */
async function zipStored<F extends PackedFile>(
  files: readonly F[],
  write: (target: Uint8Array, file: F) => Promise<void>,
): Promise<ArrayBuffer> {
  const named = files.map((file) => ({ file, nameBytes: Buffer.from(file.name) }));
  const total = named.reduce(
    (sum, { file, nameBytes }) => sum + LOCAL_BYTES + CENTRAL_BYTES + 2 * nameBytes.length + file.size,
    END_BYTES,
  );
  const archive = Buffer.from(new ArrayBuffer(total));
  let at = 0;
  const directory: Buffer[] = [];
  for (const { file, nameBytes } of named) {
    const content = archive.subarray(at + LOCAL_BYTES + nameBytes.length).subarray(0, file.size);
    await write(content, file);
    archive.writeUInt32LE(LOCAL, at);
    // Both headers share the fields from "version needed to extract" to "extra field length".
    const common = archive.subarray(at + 4, at + LOCAL_BYTES);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x0800, 2);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(file.size, 14);
    common.writeUInt32LE(file.size, 18);
    common.writeUInt16LE(nameBytes.length, 22);
    archive.set(nameBytes, at + LOCAL_BYTES);

    const entry = Buffer.alloc(CENTRAL_BYTES);
    entry.writeUInt32LE(CENTRAL, 0);
    entry.writeUInt16LE(20, 4);
    entry.set(common, 6);
    entry.writeUInt32LE(at, 42);
    directory.push(entry, nameBytes);
    at += LOCAL_BYTES + nameBytes.length + file.size;
  }
  const directoryAt = at;
  for (const part of directory) {
    archive.set(part, at);
    at += part.length;
  }
  archive.writeUInt32LE(END, at);
  archive.writeUInt16LE(files.length, at + 8);
  archive.writeUInt16LE(files.length, at + 10);
  archive.writeUInt32LE(at - directoryAt, at + 12);
  archive.writeUInt32LE(directoryAt, at + 16);
  return archive.buffer as ArrayBuffer;
}
