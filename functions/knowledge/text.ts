import { normalizeText } from '../domain/difference.ts';

/**
 * The content cannot be read. The message is one line of plain text, which the source's organization may see.
 */
export class ContentProblem extends Error {
  override readonly name = 'ContentProblem';
}

/** Largest text of a source's version, in bytes of UTF-8. */
const MAX_TEXT_BYTES = 1_000_000;
const MAX_TITLE_LENGTH = 300;

/** Before whitespace is normalized, in UTF-16 code units. */
const MAX_RAW_LENGTH = 20 * MAX_TEXT_BYTES;

/** Result of reading a document, with the text of {@link Collector}. */
export interface Reading {
  text: string;
  title?: string;
}

/** Collects text up to a limit: a short file can repeat the same long words a million times. */
export class Collector {
  readonly #parts: string[] = [];
  #length = 0;

  /** @throws ContentProblem beyond the permitted size */
  add(part: string): void {
    this.#length += part.length;
    if (this.#length > MAX_RAW_LENGTH) throw tooLarge();
    this.#parts.push(part);
  }

  /** Whether the text is blank. */
  isBlank(): boolean {
    return this.#parts.every((part) => part.trim() === '');
  }

  /**
   * The text as stored and compared: well-formed NFC without control characters, lines trimmed, one space
   * between words, at most one empty line in a row.
   * @throws ContentProblem when it is too large, or empty
   */
  text(): string {
    return joinText(this.joined());
  }

  /** The collected text as a new string, which keeps no larger string in memory. */
  joined(): string {
    return this.#parts.join('');
  }
}

function joinText(raw: string): string {
  const text = normalizeText(
    raw
      .toWellFormed()
      .replace(/\r\n?|[\u2028\u2029]/g, '\n')
      .replace(INVISIBLE, '')
      .replace(/[^\S\n]+/g, ' ')
      .replace(/ ?\n ?/g, '\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
  );
  if (text === '') throw new ContentProblem('there is no text in the content');
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) throw tooLarge();
  return text;
}

/** Controls but tab and line feed, and the mark of byte order, which is no space. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is left out
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufeff]/g;

const tooLarge = () => new ContentProblem(`the text is larger than ${MAX_TEXT_BYTES / 1_000_000} MB`);

/** Normalizes a title to one line. Undefined without text. */
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

const MAX_ROWS = 100_000;
const MAX_CELLS = 1_000_000;

const tooManyRows = () => new ContentProblem(`the spreadsheet has more than ${MAX_ROWS} rows`);
export const tooManyCells = () => new ContentProblem(`the spreadsheet has more than ${MAX_CELLS} cells`);

/** @throws ContentProblem for a spreadsheet with too many rows or cells */
export function checkSize({ rows, cells }: { rows: number; cells: number }): void {
  if (rows > MAX_ROWS) throw tooManyRows();
  if (cells > MAX_CELLS) throw tooManyCells();
}

/**
 * Adds a line of the row's cells that are not empty, cell by cell: a row may repeat a long text a thousand
 * times.
 */
export function addRow(cells: readonly string[], collector: Collector): void {
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
