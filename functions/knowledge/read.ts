import { gunzipSync } from 'node:zlib';
import { MIMEType } from 'whatwg-mimetype';
import type { SourceKind } from '../events/bus.ts';
import { decode, looksBinary, type Markup } from './decode.ts';
import type { Content, Extraction } from './source-content.ts';
import { MAX_SOURCE_BYTES } from './sources.ts';
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
async function readFormat(kind: SourceKind, content: Content): Promise<Reading> {
  const body = startsWith(content.body, GZIP) ? unpackGzip(content.body) : content.body;
  if (body.length === 0) throw new ContentProblem('there is no text in the content');
  const type = parseMediaType(content.contentType);
  const format = detectFormat(kind, type, body);
  if (format === 'xlsx') {
    const { readWorkbook } = await import('./workbook.ts');
    return readWorkbook(body);
  }
  const { text, replaced } = decode(body, type.charset, MARKUP[format]);
  const reading = await readText(format, text, content.choice);
  if (replaced === 0) return reading;
  return { ...reading, warnings: [...(reading.warnings ?? []), { code: 'bytes_replaced', count: replaced }] };
}

const MARKUP: Readonly<Partial<Record<Format, Markup>>> = { html: 'html', feed: 'xml' };

async function readText(format: Exclude<Format, 'xlsx'>, text: string, choice?: string): Promise<Reading> {
  switch (format) {
    case 'html': {
      const { readPage } = await import('./html.ts');
      return readPage(text, choice);
    }
    case 'plain':
      return readPlain(text);
    case 'feed': {
      const { readFeed } = await import('./feed.ts');
      return readFeed(text);
    }
    case 'csv': {
      const { readCsv } = await import('./spreadsheet.ts');
      return readCsv(text);
    }
  }
}

const GZIP = [0x1f, 0x8b, 8];
const ZIP = [0x50, 0x4b, 3, 4];
/** The container of Excel's binary format, and of workbooks with a password. */
const OLE = [0xd0, 0xcf, 0x11, 0xe0];

const startsWith = (body: Uint8Array, bytes: readonly number[]): boolean =>
  bytes.every((byte, at) => body[at] === byte);

/** Unpacks content that a server stores compressed and sends without a content encoding. */
function unpackGzip(body: Uint8Array): Uint8Array {
  try {
    return gunzipSync(body, { maxOutputLength: MAX_SOURCE_BYTES });
  } catch (error) {
    const isTooLarge = error instanceof RangeError;
    throw new ContentProblem(
      isTooLarge ? 'the content is larger than 5 MB' : 'the content is not valid gzip',
    );
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
/** Types of other content than tables and feeds. */
const OTHERS = /^(?:image|audio|video|font)\/|pdf/;
const OTHERS_THAN_TABLES = /html|xml|json/;
/** Types that say nothing about the content, which storage and download scripts send. */
const VAGUE = /octet-stream|binary|download|unknown|zip/;

/**
 * Detects the format of a source's content, by its bytes first: many servers send a type that is wrong.
 * @throws ContentProblem for content that does not match the kind of source
 */
function detectFormat(kind: SourceKind, { essence }: MediaType, body: Uint8Array): Format {
  const format = kind === 'url' ? detectPage(essence, body) : detectTableOrFeed(kind, essence, body);
  if (format !== undefined) return format;
  const what = essence === undefined ? 'without a type' : `of type ${essence}`;
  throw new ContentProblem(`the content is ${what}, not a ${NAMES[kind]}`);
}

function detectPage(essence: string | undefined, body: Uint8Array): Format | undefined {
  if (essence !== undefined) return Object.hasOwn(PAGES, essence) ? PAGES[essence] : undefined;
  if (looksBinary(body)) return undefined;
  return matches(body, /^\s*</) ? 'html' : 'plain';
}

function detectTableOrFeed(
  kind: 'spreadsheet' | 'feed',
  essence: string | undefined,
  body: Uint8Array,
): Format | undefined {
  if (kind === 'spreadsheet') {
    if (startsWith(body, ZIP)) return 'xlsx';
    if (startsWith(body, OLE))
      throw new ContentProblem('the spreadsheet is in an old Excel format, or needs a password');
    if (matches(body, PAGE) || (essence !== undefined && OTHERS_THAN_TABLES.test(essence))) return undefined;
  }
  if (essence === undefined || VAGUE.test(essence)) {
    if (looksBinary(body)) return undefined;
  } else if (OTHERS.test(essence)) return undefined;
  return kind === 'feed' ? 'feed' : 'csv';
}

/** A page or XML in the place of a table. Other tables may begin with `<` as well. */
const PAGE = /^\s*<(?:!--|(?:!doctype|html|head|body|table|\?xml)\b)/i;

/** @param pattern for bytes as characters, after a byte order mark of UTF-8 */
const matches = (body: Uint8Array, pattern: RegExp): boolean =>
  pattern.test(
    Buffer.from(body.subarray(0, 1024))
      .toString('latin1')
      .replace(/^\u00ef\u00bb\u00bf/, ''),
  );
