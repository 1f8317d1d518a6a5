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

  /**
   * Returns the text as stored and compared: well-formed NFC without control characters, lines trimmed, one
   * space between words, no two empty lines in a row.
   * @throws ContentProblem when it is too large, or empty unless it can be
   */
  text({ canBeEmpty = false } = {}): string {
    const text = normalizeLines(this.#parts.join(''));
    if (text === '' && !canBeEmpty) throw new ContentProblem('there is no text in the content');
    if (isTooLarge(text)) throw tooLarge();
    return text;
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
