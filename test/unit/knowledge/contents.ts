import { crc32, deflateRawSync } from 'node:zlib';
import type { SourceKind } from '../../../functions/events/bus.ts';
import { read } from '../../../functions/knowledge/read.ts';
import type { Content, Extraction } from '../../../functions/knowledge/source-content.ts';

/** A content of UTF-8 text, or of bytes. */
export const content = (body: string | Uint8Array, contentType?: string): Content => ({
  body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
  contentType,
});

const TYPES: Readonly<Record<SourceKind, string>> = {
  url: 'text/html; charset=utf-8',
  feed: 'application/xml',
  spreadsheet: 'text/csv',
};

/** Reads in this process, for contents that need no isolation. */
export const readIt = (
  kind: SourceKind,
  body: string | Uint8Array,
  contentType: string | undefined = TYPES[kind],
): Promise<Extraction> => read(kind, content(body, contentType));

/** The text that is read, or the problem after `! `. */
export async function textIn(...parameters: Parameters<typeof readIt>): Promise<string> {
  const extraction = await readIt(...parameters);
  return extraction.ok ? extraction.text : `! ${extraction.problem}`;
}

export const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

interface File {
  name: string;
  data: Uint8Array | string;
  /** Replaces the value in the archive's directory. */
  size?: number;
  packedSize?: number;
  method?: number;
  flags?: number;
}

/** A zip archive, compressed as office programs write it, except where a file sets other values. */
export function zip(files: readonly File[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  // Some tests compress tens of megabytes, and thousands of times the same.
  const compressed = new Map<File['data'], Uint8Array>();
  for (const { name, data, size, packedSize, method = 8, flags = 0 } of files) {
    const bytes = Buffer.from(data);
    const level = typeof data === 'string' ? 1 : 6;
    const deflated = compressed.get(data) ?? deflateRawSync(bytes, { level });
    compressed.set(data, deflated);
    const packed = method === 8 ? deflated : bytes;
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50, 0);
    header.writeUInt16LE(20, 4);
    header.writeUInt16LE(flags, 6);
    header.writeUInt16LE(method, 8);
    header.writeUInt32LE(crc32(bytes), 14);
    header.writeUInt32LE(packedSize ?? packed.length, 18);
    header.writeUInt32LE(size ?? bytes.length, 22);
    header.writeUInt16LE(name.length, 26);
    parts.push(header, Buffer.from(name), packed);

    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(20, 4);
    header.copy(entry, 6, 4, 30);
    entry.writeUInt32LE(offset, 42);
    directory.push(entry, Buffer.from(name));
    offset += 30 + name.length + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(
    directory.reduce((total, { length }) => total + length, 0),
    12,
  );
  end.writeUInt32LE(offset, 16);
  return new Uint8Array(Buffer.concat([...parts, ...directory, end]));
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';

/** The files of a workbook with the XML rows of its sheets. */
export function workbookFiles(
  sheets: Readonly<Record<string, string>>,
  { sharedStrings = '', styles = '' } = {},
): File[] {
  const names = Object.keys(sheets);
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"/>`;
  return [
    {
      name: 'xl/workbook.xml',
      data: `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${names
        .map((name, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`)
        .join('')}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      data: `<Relationships xmlns="${PACKAGE}">${names
        .map((_, index) => relation(`rId${index + 1}`, 'worksheet', `worksheets/sheet${index + 1}.xml`))
        .join(
          '',
        )}${relation('strings', 'sharedStrings', 'sharedStrings.xml')}${relation('styles', 'styles', 'styles.xml')}</Relationships>`,
    },
    { name: 'xl/sharedStrings.xml', data: `<sst xmlns="${MAIN}">${sharedStrings}</sst>` },
    { name: 'xl/styles.xml', data: `<styleSheet xmlns="${MAIN}">${styles}</styleSheet>` },
    ...names.map((name, index) => ({
      name: `xl/worksheets/sheet${index + 1}.xml`,
      data: `<worksheet xmlns="${MAIN}"><sheetData>${sheets[name]}</sheetData></worksheet>`,
    })),
  ];
}

/** A cell with a text. */
export const cell = (address: string, text: string): string =>
  `<c r="${address}" t="inlineStr"><is><t>${text}</t></is></c>`;

/** The XML of rows of texts. */
export const rowsOf = (rows: readonly (readonly string[])[]): string =>
  rows
    .map(
      (cells, row) =>
        `<row r="${row + 1}">${cells.map((text, column) => cell(`${String.fromCharCode(65 + column)}${row + 1}`, text)).join('')}</row>`,
    )
    .join('');
