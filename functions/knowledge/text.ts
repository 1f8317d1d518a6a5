import { normalizeText } from '../domain/difference.ts';

/** The content cannot be read. The message is one line of plain text that the organization sees. */
export class ContentProblem extends Error {
  override readonly name = 'ContentProblem';
}

/** UTF-8 bytes of a version's text. One transaction writes it, of which DynamoDB takes 4 MB. */
export const MAX_TEXT_BYTES = 1_000_000;
const MAX_TITLE_LENGTH = 300;

/** UTF-16 code units before normalization. */
const MAX_RAW_LENGTH = 20 * MAX_TEXT_BYTES;

/** Text of a document, normalized by {@link Collector}. */
export interface Reading {
  text: string;
  title?: string;
}

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
   * @throws ContentProblem when it is too large, or empty
   */
  text(): string {
    return joinText(this.joined());
  }

  /** Returns the collected text as a new string, which does not keep a larger string in memory. */
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

const MAX_ROWS = 100_000;
const MAX_CELLS = 1_000_000;

const tooManyRows = () => new ContentProblem(`the spreadsheet has more than ${MAX_ROWS} rows`);
export const tooManyCells = () => new ContentProblem(`the spreadsheet has more than ${MAX_CELLS} cells`);

/** @throws ContentProblem for a spreadsheet with too many rows or cells */
export function checkSize({ rows, cells }: { rows: number; cells: number }): void {
  if (rows > MAX_ROWS) throw tooManyRows();
  if (cells > MAX_CELLS) throw tooManyCells();
}

/** Adds a row's non-empty cells as a line, one by one, because a row may repeat a long text many times. */
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
