import sniffEncoding from 'html-encoding-sniffer';
import { MIMEType } from 'whatwg-mimetype';
import type { SourceKind } from '../events/bus.ts';
import type { Content, Extraction } from './source-content.ts';
import { Collector, ContentProblem, type Reading } from './text.ts';

/** Extracts text. Never rejects, but may run forever or fill the heap: the function's limits end it. */
export async function read(kind: SourceKind, content: Content): Promise<Extraction> {
  try {
    return { ok: true, ...(await readFormat(kind, content)) };
  } catch (error) {
    return { ok: false, problem: toProblem(error) };
  }
}

/** Hides messages of libraries, which may contain paths and text of the content. */
function toProblem(error: unknown): string {
  if (error instanceof ContentProblem) return error.message;
  // V8 throws a RangeError when the stack is full.
  return error instanceof RangeError ? 'the content is nested too deeply' : 'the content could not be read';
}

/** Loads only the parser that it needs, which a cold start waits for. */
async function readFormat(kind: SourceKind, { body, contentType, choice }: Content): Promise<Reading> {
  if (body.length === 0) throw new ContentProblem('there is no text in the content');
  const type = parseMediaType(contentType);
  const format = detectFormat(kind, type, body);
  switch (format) {
    case 'html': {
      const { readPage } = await import('./html.ts');
      return readPage(decode(body, type.charset, 'html'), choice);
    }
    case 'plain':
      return readPlain(decode(body, type.charset, undefined));
    case 'feed': {
      const { readFeed } = await import('./feed.ts');
      return readFeed(decode(body, type.charset, 'xml'));
    }
    case 'csv': {
      const { readCsv } = await import('./spreadsheet.ts');
      return readCsv(decode(body, type.charset, undefined));
    }
    case 'xlsx': {
      const { readWorkbook } = await import('./spreadsheet.ts');
      return readWorkbook(body);
    }
  }
}

function readPlain(text: string): Reading {
  const collector = new Collector();
  collector.add(text);
  return { text: collector.text() };
}

interface MediaType {
  /** `type/subtype` in lower case; undefined when the server sent no valid one. */
  essence?: string;
  charset?: string;
}

/** Longer than the type of any page, table or feed. */
const MAX_LENGTH = 160;

/** A charset. Some servers put it in single quotes, or send the whole field twice. */
const LABEL = /^[\s']*([\w.:-]{1,40})/;

/** Reads a Content-Type as browsers do (MIME Sniffing standard, 4.4). */
function parseMediaType(field: string | undefined): MediaType {
  const parsed = MIMEType.parse((field ?? '').slice(0, 400));
  if (parsed === null || parsed.essence.length > MAX_LENGTH) return {};
  return { essence: parsed.essence, charset: LABEL.exec(parsed.parameters.get('charset') ?? '')?.[1] };
}

type Format = 'html' | 'plain' | 'feed' | 'csv' | 'xlsx';

const NAMES: Readonly<Record<SourceKind, string>> = { url: 'page', spreadsheet: 'spreadsheet', feed: 'feed' };

const PAGES: Readonly<Record<string, Format>> = {
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/plain': 'plain',
};
const TABLES: readonly string[] = [
  'text/csv',
  'application/csv',
  'text/tab-separated-values',
  'text/plain',
  // Browsers with Excel installed send this type for CSV files.
  'application/vnd.ms-excel',
];
const WORKBOOKS: readonly string[] = [
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.ms-excel',
  'application/octet-stream',
  'application/zip',
];
const FEED = /^(?:text\/.*|application\/(?:.*\+)?(?:xml|json))$/;

/**
 * Detects the format of a source's content.
 * @throws ContentProblem for a type that does not match the kind of source
 */
function detectFormat(kind: SourceKind, { essence }: MediaType, body: Uint8Array): Format {
  const format =
    essence === undefined ? formatOfUntyped(kind, body) : formatOfTyped(kind, essence, isZip(body));
  if (format !== undefined) return format;
  const what = essence === undefined ? 'without a type' : `of type ${essence}`;
  throw new ContentProblem(`the content is ${what}, not a ${NAMES[kind]}`);
}

function formatOfTyped(kind: SourceKind, essence: string, zip: boolean): Format | undefined {
  if (kind === 'url') return Object.hasOwn(PAGES, essence) ? PAGES[essence] : undefined;
  if (kind === 'feed') return FEED.test(essence) ? 'feed' : undefined;
  if (zip) return WORKBOOKS.includes(essence) || TABLES.includes(essence) ? 'xlsx' : undefined;
  return TABLES.includes(essence) ? 'csv' : undefined;
}

function formatOfUntyped(kind: SourceKind, body: Uint8Array): Format | undefined {
  if (kind === 'spreadsheet' && isZip(body)) return 'xlsx';
  if (!looksLikeText(body)) return undefined;
  if (kind === 'url') return looksLikeMarkup(body) ? 'html' : 'plain';
  return kind === 'feed' ? 'feed' : 'csv';
}

const isZip = ([a, b, c, d]: Uint8Array): boolean => a === 0x50 && b === 0x4b && c === 3 && d === 4;

/** Whether there is no binary data byte (https://mimesniff.spec.whatwg.org). */
const looksLikeText = (body: Uint8Array): boolean =>
  body.subarray(0, 1024).every((byte) => byte >= 0x20 || [0x09, 0x0a, 0x0c, 0x0d, 0x1b].includes(byte));

const looksLikeMarkup = (body: Uint8Array): boolean =>
  /^\s*</.test(
    Buffer.from(body.subarray(0, 1024))
      .toString('latin1')
      .replace(/^\u00ef\u00bb\u00bf/, ''),
  );

/** Markup in which a document can declare its encoding, besides a byte order mark. */
type Markup = 'html' | 'xml' | undefined;

/**
 * Decodes text by its byte order mark, the charset of its content type, the encoding that the document
 * declares, or else as UTF-8, in this order (HTML standard, 13.2.3.2; RFC 7303, section 3.2).
 * @throws ContentProblem for bytes invalid in that encoding: replacement characters would look like changes
 */
function decode(body: Uint8Array, charset: string | undefined, markup: Markup): string {
  const mark = sniffEncoding(body.subarray(0, MARK_BYTES), { defaultEncoding: null });
  const named = mark ?? (charset === undefined ? detectOwnEncoding(body, markup) : charset);
  const decoder = createDecoder(named ?? 'utf-8');
  try {
    return decoder.decode(body);
  } catch {
    throw new ContentProblem(
      named === null
        ? 'the content is not valid UTF-8, and names no other encoding'
        : `the content is not valid ${decoder.encoding}, which it says it is`,
    );
  }
}

/** Bytes of the longest byte order mark. */
const MARK_BYTES = 3;

/** Browsers accept declarations beyond the standard's 1,024 bytes by decoding again. */
const PRESCAN_BYTES = 4096;

function detectOwnEncoding(body: Uint8Array, markup: Markup): string | null {
  if (markup === undefined) return null;
  if (markup === 'html')
    return sniffEncoding(body, { maxPrescanBytes: PRESCAN_BYTES, defaultEncoding: null });
  // Some feeds begin with empty lines.
  const start = body.findIndex((byte) => !SPACES.includes(byte));
  return sniffEncoding(body.subarray(Math.max(0, start)), { xml: true, defaultEncoding: null });
}

const SPACES: readonly number[] = [0x09, 0x0a, 0x0d, 0x20];

function createDecoder(label: string) {
  try {
    return new TextDecoder(label, { fatal: true });
  } catch {
    throw new ContentProblem('the content names an encoding that is not known');
  }
}
