import {
  type Archive,
  ignoreDamage,
  invalid,
  openArchive,
  readRelations,
  tooLarge,
  type XmlHandlers,
} from './archive.ts';
import {
  type DateFormat,
  findBuiltInFormat,
  formatIsoDate,
  formatSerial,
  parseFormat,
} from './number-format.ts';
import { Table } from './table.ts';
import { MAX_TEXT_BYTES, type Reading, Warnings } from './text.ts';

/**
 * Reads the cells of all sheets of an XLSX workbook (ECMA-376) as text, one row per line, with results of
 * formulas. A part that cannot be read is left out. Uses the order of cells, not their addresses, so that
 * distant cells cost nothing.
 */
export async function readWorkbook(packed: Uint8Array): Promise<Reading> {
  const archive = await openArchive(packed);
  const warnings = new Warnings();
  const { sheets, is1904, sharedStrings, styles } = await readParts(archive);
  const context = {
    is1904,
    strings: await readSharedStrings(archive, sharedStrings, warnings),
    formats: await readFormats(archive, styles),
    warnings,
  };

  const table = new Table();
  const worksheets = sheets.filter(({ isWorksheet }) => isWorksheet);
  let sheetsRead = 0;
  for (const { name, path } of worksheets) {
    const title = worksheets.length > 1 ? name : undefined;
    let rows = 0;
    const addRow = (cells: readonly string[]) => {
      if (rows === 0 && title !== undefined) table.addTitle(title);
      rows += 1;
      table.addRow(cells);
    };
    try {
      warnings.add('bytes_replaced', await archive.readXml(path, handleSheet(context, addRow)));
      if (rows === 0 && title !== undefined) table.addTitle(title);
      sheetsRead += 1;
    } catch (error) {
      ignoreDamage(error);
      if (rows > 0) {
        warnings.add('rows_left_out');
        sheetsRead += 1;
      }
    }
  }
  if (sheetsRead === 0) throw invalid();
  warnings.add('sheets_left_out', sheets.length - sheetsRead);
  return { text: table.text(), ...warnings.list() };
}

/** Far more than a workbook has. Each costs a stream, however small it is. */
const MAX_SHEETS = 1000;

interface WorkbookParts {
  /** In the order of the workbook. Sheets of charts, dialogs and macros have no cells with texts. */
  sheets: { name: string; path: string; isWorksheet: boolean }[];
  is1904: boolean;
  sharedStrings: string;
  styles: string;
}

async function readParts(archive: Archive): Promise<WorkbookParts> {
  const root = (await readRelations(archive, '')).find(({ type }) => type === 'officeDocument');
  const path = root?.path ?? archive.find(/(?:^|\/)workbook\.xml$/);
  if (path === undefined) throw invalid();

  const relations = await readRelations(archive, path);
  const findPath = (type: string) => relations.find((relation) => relation.type === type)?.path ?? '';
  const byId = new Map(relations.map((relation) => [relation.id, relation]));
  const parts: WorkbookParts = {
    sheets: [],
    is1904: false,
    sharedStrings: findPath('sharedStrings'),
    styles: findPath('styles'),
  };
  await archive
    .readXml(path, {
      open(name, attributes) {
        // An extension has an element of this name as well.
        if (name === 'workbookPr') parts.is1904 ||= isTrue(attributes.date1904);
        if (name !== 'sheet') return;
        const relation = byId.get(findRelationId(attributes));
        if (parts.sheets.length >= MAX_SHEETS) throw tooLarge();
        parts.sheets.push({
          name: attributes.name ?? '',
          path: relation?.path ?? '',
          isWorksheet: relation === undefined || relation.type === 'worksheet',
        });
      },
    })
    .catch(ignoreDamage);
  return parts;
}

const isTrue = (value: string | undefined): boolean => value === '1' || value?.toLowerCase() === 'true';

/** The attribute has a prefix, which workbooks choose. */
const findRelationId = (attributes: Readonly<Record<string, string>>): string =>
  Object.entries(attributes).find(([name]) => name.endsWith(':id'))?.[1] ?? '';

/** Appends to the text of a cell, of which a larger one would fill the memory. */
function append(text: string, part: string): string {
  if (text.length + part.length > MAX_TEXT_BYTES) throw tooLarge();
  return text + part;
}

/** Collects the text of `t` elements, without that of phonetic hints, which repeat it. */
function textCollector() {
  let text = '';
  let isOpen = false;
  let isHint = false;
  return {
    reset: () => {
      text = '';
    },
    open(name: string) {
      if (name === 'rPh') isHint = true;
      else if (name === 't') isOpen = !isHint;
    },
    add(part: string) {
      if (isOpen) text = append(text, part);
    },
    close(name: string) {
      if (name === 'rPh') isHint = false;
      else if (name === 't') isOpen = false;
    },
    text: () => unescapeText(text),
  };
}

/** Characters that XML cannot contain are written as `_x000D_` (ECMA-376, 22.9.2.19). */
const unescapeText = (text: string): string =>
  text.replace(/_x([\da-f]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** @returns those before the first damage */
async function readSharedStrings(archive: Archive, path: string, warnings: Warnings): Promise<string[]> {
  const strings: string[] = [];
  const collector = textCollector();
  const replaced = archive.readXml(path, {
    open(name) {
      if (name === 'si') collector.reset();
      collector.open(name);
    },
    text: collector.add,
    close(name) {
      collector.close(name);
      if (name === 'si') strings.push(collector.text());
    },
  });
  warnings.add('bytes_replaced', (await replaced.catch(ignoreDamage)) ?? 0);
  return strings;
}

/** Reads what the style of each index shows of a number. */
async function readFormats(archive: Archive, path: string): Promise<DateFormat[]> {
  const custom = new Map<number, DateFormat>();
  const formats: DateFormat[] = [];
  let isCellStyle = false;
  const styles = archive.readXml(path, {
    open(name, { numFmtId, formatCode = '' }) {
      const id = Number(numFmtId);
      if (name === 'cellXfs') isCellStyle = true;
      else if (name === 'numFmt') custom.set(id, parseFormat(formatCode));
      // A workbook's own definition replaces a built-in one.
      else if (name === 'xf' && isCellStyle)
        formats.push(custom.has(id) ? custom.get(id) : findBuiltInFormat(id));
    },
    close(name) {
      if (name === 'cellXfs') isCellStyle = false;
    },
  });
  await styles.catch(ignoreDamage);
  return formats;
}

interface SheetContext {
  is1904: boolean;
  strings: readonly string[];
  formats: readonly DateFormat[];
  warnings: Warnings;
}

/** Returns handlers that pass the cells of each row that are not empty. */
function handleSheet(context: SheetContext, addRow: (cells: readonly string[]) => void): XmlHandlers {
  let row: string[] = [];
  let cell: Readonly<Record<string, string>> | undefined;
  let value = '';
  let isValue = false;
  const inline = textCollector();
  const endRow = () => {
    if (row.length > 0) addRow(row);
    row = [];
  };
  return {
    open(name, attributes) {
      if (name === 'row') endRow();
      else if (name === 'c') {
        cell = attributes;
        value = '';
        inline.reset();
      } else if (cell !== undefined) {
        isValue = name === 'v';
        inline.open(name);
      }
    },
    text(part) {
      if (isValue) value = append(value, part);
      else inline.add(part);
    },
    close(name) {
      if (name === 'c' && cell !== undefined) {
        const text = formatCell(cell, value.trim() === '' ? inline.text() : value, context);
        if (text.trim() !== '') row.push(text);
        cell = undefined;
      } else if (name === 'row' || name === 'sheetData') endRow();
      if (name === 'v') isValue = false;
      inline.close(name);
    },
  };
}

/** Errors of formulas are no text. */
function formatCell(
  { t: type, s: style }: Readonly<Record<string, string>>,
  value: string,
  context: SheetContext,
) {
  const trimmed = value.trim();
  switch (type) {
    case 's': {
      const text = trimmed === '' ? '' : context.strings[Number(trimmed)];
      if (text === undefined) context.warnings.add('cells_left_out');
      return text ?? '';
    }
    case 'b':
      return trimmed === '' ? '' : String(isTrue(trimmed)).toUpperCase();
    case 'e':
      return '';
    case 'd':
      return formatIsoDate(trimmed);
    case 'str':
      return unescapeText(value);
    case 'inlineStr':
      return value;
    default: {
      const number = trimmed === '' ? Number.NaN : Number(trimmed);
      if (Number.isNaN(number)) return value;
      return formatSerial(number, context.formats[Number(style ?? 0)], context.is1904) ?? String(number);
    }
  }
}
