/** The content cannot be read. The message is one line of plain text that the organization sees. */
export class ContentProblem extends Error {
  override readonly name = 'ContentProblem';
}

/** UTF-8 bytes of a version's text. One transaction writes it, of which DynamoDB takes 4 MB. */
export const MAX_TEXT_BYTES = 1_000_000;
const MAX_TITLE_LENGTH = 300;

/** UTF-16 code units before normalization. */
const MAX_RAW_LENGTH = 20 * MAX_TEXT_BYTES;

/** Reasons why a text lacks a part of its document, or may have it wrong. */
export const WARNING_CODES = [
  'bytes_replaced',
  'sheets_left_out',
  'rows_left_out',
  'cells_left_out',
  'entries_left_out',
] as const;

/** What was left out of a text: the reason, and how many parts. */
export interface Warning {
  code: (typeof WARNING_CODES)[number];
  count: number;
}

/** Counts what is left out of a text while it is read. */
export class Warnings {
  readonly #counts = new Map<Warning['code'], number>();

  add(code: Warning['code'], count = 1): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + count);
  }

  /** Returns the field of a {@link Reading}, if anything was left out. */
  list(): Pick<Reading, 'warnings'> {
    const warnings = Array.from(this.#counts, ([code, count]) => ({ code, count })).filter(
      ({ count }) => count > 0,
    );
    return warnings.length === 0 ? {} : { warnings };
  }
}

/** Text of a document, normalized by {@link Collector}. */
export interface Reading {
  text: string;
  title?: string;
  /** One for each reason. */
  warnings?: Warning[];
  /** How a page's text was chosen, to be passed to its next reading. At most 200 characters. */
  choice?: string;
}

const MARKS_IN_A_ROW = /(\p{M}{30})\p{M}+/gu;

/**
 * Normalizes to NFC in linear time. Marks beyond 30 on one letter are dropped: sorting marks takes quadratic
 * time in their number (UAX 15, section 13).
 */
export const normalizeText = (text: string): string => text.replace(MARKS_IN_A_ROW, '$1').normalize('NFC');

/** Collects text up to a limit, because a short file can repeat a long text a million times. */
export class Collector {
  readonly #parts: string[] = [];
  #length = 0;

  /** @throws ContentProblem beyond the permitted size */
  add(part: string): void {
    this.#length += part.length;
    if (this.#length > MAX_RAW_LENGTH) throw tooLarge();
    this.#parts.push(part);
  }

  isBlank(): boolean {
    return this.#parts.every((part) => part.trim() === '');
  }

  /**
   * Returns the text as stored and compared: well-formed NFC without control characters, lines trimmed, one
   * space between words, no two empty lines in a row.
   * @throws ContentProblem when it is too large, or empty unless it can be
   */
  text({ canBeEmpty = false } = {}): string {
    const text = normalizeLines(this.joined());
    if (text === '' && !canBeEmpty) throw new ContentProblem('there is no text in the content');
    if (isTooLarge(text)) throw tooLarge();
    return text;
  }

  /** Returns the collected text as a new string, which does not keep a larger string in memory. */
  joined(): string {
    return this.#parts.join('');
  }
}

/** Between lines, and between cells of a line. */
const SEPARATORS = / \| |\n/g;

/**
 * Whether a text is larger than a version can have. Separators are not part of the document and do not count;
 * they compress well.
 */
export const isTooLarge = (text: string): boolean =>
  Buffer.byteLength(text.replaceAll(SEPARATORS, '')) > MAX_TEXT_BYTES;

const normalizeLines = (raw: string): string =>
  normalizeText(
    raw
      .toWellFormed()
      .replace(/\r\n?|[\u2028\u2029]/g, '\n')
      .replace(INVISIBLE, '')
      .replace(/[^\S\n]+/g, ' ')
      .replace(/ ?\n ?/g, '\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
  );

/** Control characters except tab and line feed, and the byte order mark, which is not whitespace. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufeff]/g;

const tooLarge = () => new ContentProblem(`the text is larger than ${MAX_TEXT_BYTES / 1_000_000} MB`);

/**
 * Normalizes a title to one line.
 * @returns undefined when it has no text
 */
export function toTitle(raw: string | null | undefined): string | undefined {
  const line = normalizeText(
    (raw ?? '')
      .slice(0, 4 * MAX_TITLE_LENGTH)
      .toWellFormed()
      .replace(INVISIBLE, ' '),
  )
    .replace(/\s+/g, ' ')
    .trim();
  return line.slice(0, MAX_TITLE_LENGTH).toWellFormed().trim() || undefined;
}

/** Far more than a feed or a sheet has. Deeper nesting could overflow a parser's stack. */
const MAX_XML_DEPTH = 200;

/**
 * Characters that can end a tag or a quotation. A regular expression for whole tags could overflow the stack
 * on a long tag.
 */
const IN_TAG = /[<>"']/g;
const IN_QUOTATION = { '"': /[<"]/g, "'": /[<']/g };

/**
 * Refuses entity declarations and deep nesting, before a parser reads the XML. Also refuses text that parsers
 * could read differently, so that none finds a declaration where this function finds a comment.
 * @throws ContentProblem
 */
export function checkXml(xml: string, what: string): void {
  let depth = 0;
  for (let start = xml.indexOf('<'); start >= 0; ) {
    const markup = parseMarkup(xml, start);
    if (markup === undefined) throw new ContentProblem(`the content is not a valid ${what}`);
    if (markup === 'declaration') throw new ContentProblem(`the ${what} declares entities`);
    const { kind, end } = markup;
    depth += kind === 'opens' ? 1 : kind === 'closes' ? -1 : 0;
    if (depth > MAX_XML_DEPTH) throw new ContentProblem(`the ${what} is nested too deeply`);
    start = xml.indexOf('<', end);
  }
}

interface Markup {
  kind: 'opens' | 'closes' | 'neither';
  /** Position after the markup. */
  end: number;
}

/** @returns the markup at `start`; undefined when it has no end */
function parseMarkup(xml: string, start: number): Markup | 'declaration' | undefined {
  for (const [open, close] of [
    ['<!--', '-->'],
    ['<![CDATA[', ']]>'],
  ] as const)
    if (xml.startsWith(open, start)) {
      const end = xml.indexOf(close, start + open.length);
      return end < 0 ? undefined : { kind: 'neither', end: end + close.length };
    }
  if (xml.startsWith('<!', start)) return 'declaration';

  const end = findTagEnd(xml, start);
  if (end === undefined) return undefined;
  if (xml.startsWith('<?', start))
    return xml.startsWith('?>', end - 2) ? { kind: 'neither', end } : undefined;
  if (xml.startsWith('</', start)) return { kind: 'closes', end };
  return { kind: xml.startsWith('/>', end - 2) ? 'neither' : 'opens', end };
}

/**
 * Finds the end of a tag or processing instruction.
 * @returns the position after the first `>` outside quotation marks; undefined when there is none, or when
 * another `<` comes first (XML 1.0, section 3.1)
 */
function findTagEnd(xml: string, start: number): number | undefined {
  for (let at = findNext(IN_TAG, xml, start + 1); at !== undefined; at = findNext(IN_TAG, xml, at + 1)) {
    const character = xml[at];
    if (character === '>') return at + 1;
    if (character !== '"' && character !== "'") return undefined;
    at = findNext(IN_QUOTATION[character], xml, at + 1);
    if (at === undefined || xml[at] !== character) return undefined;
  }
  return undefined;
}

function findNext(characters: RegExp, text: string, from: number): number | undefined {
  characters.lastIndex = from;
  return characters.exec(text)?.index;
}
