import sniffEncoding from 'html-encoding-sniffer';
import { ContentProblem } from './text.ts';

/** Markup in which a document can declare its encoding, besides a byte order mark. */
export type Markup = 'html' | 'xml' | undefined;

export interface Decoded {
  text: string;
  /** Replacement characters in the place of bytes that the encoding does not have. */
  replaced: number;
}

/**
 * Decodes text by its byte order mark, the charset of its content type, the encoding that the document
 * declares, or else as UTF-8 where that fits, and as windows-1252 where it does not, in this order (HTML
 * standard, 13.2.3.2; RFC 7303, section 3.2). Ignores encodings that the HTML standard does not name.
 * @throws ContentProblem for bytes that are no text
 */
export function decode(body: Uint8Array, charset: string | undefined, markup: Markup): Decoded {
  const decoder =
    createDecoder(detectByMark(body)) ??
    createDecoder(charset) ??
    createDecoder(detectOwnEncoding(body, markup) ?? detectUtf16(body));
  if (decoder !== undefined) return toDecoded(decoder.decode(body));

  const utf8 = toDecoded(new TextDecoder().decode(body));
  // Other encodings rarely form characters of UTF-8, so a page that has some is UTF-8 with errors.
  if (utf8.replaced === 0 || countOthers(utf8.text) >= utf8.replaced) return utf8;
  if (hasBinaryBytes(body)) throw new ContentProblem('the content is not text');
  return { text: new TextDecoder('windows-1252').decode(body), replaced: 0 };
}

/** @returns undefined for a label that is not known */
function createDecoder(label: string | null | undefined) {
  if (label === null || label === undefined) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}

const toDecoded = (text: string): Decoded => ({ text, replaced: countReplaced(text) });

/** Counts replacement characters. */
export function countReplaced(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\ufffd'); at >= 0; at = text.indexOf('\ufffd', at + 1)) count += 1;
  return count;
}

/** Counts characters other than ASCII and replacement characters. */
function countOthers(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x7f && code !== 0xfffd) count += 1;
  }
  return count;
}

/** Bytes of the longest byte order mark. */
const MARK_BYTES = 3;

const detectByMark = (body: Uint8Array): string | null =>
  sniffEncoding(body.subarray(0, MARK_BYTES), { defaultEncoding: null });

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

/** Bytes by which content is detected (MIME Sniffing standard, 5.2). */
const HEADER_BYTES = 1024;

/** Share of characters below U+0100, which have a zero byte in UTF-16, in most texts in Latin letters. */
const LATIN_SHARE = 0.7;

function detectUtf16(body: Uint8Array): string | null {
  const header = body.subarray(0, Math.min(HEADER_BYTES, body.length - (body.length % 2)));
  const countZeros = (parity: number) => header.filter((byte, at) => byte === 0 && at % 2 === parity).length;
  const [even, odd] = [countZeros(0), countZeros(1)];
  if (Math.max(even, odd) < Math.max(1, (LATIN_SHARE * header.length) / 2)) return null;
  if (Math.min(even, odd) > Math.max(even, odd) / 10) return null;
  return odd > even ? 'utf-16le' : 'utf-16be';
}

/** Whether the content has bytes that no text has (MIME Sniffing standard, 3), and is not UTF-16. */
export const looksBinary = (body: Uint8Array): boolean =>
  detectByMark(body) === null && detectUtf16(body) === null && hasBinaryBytes(body);

const hasBinaryBytes = (body: Uint8Array): boolean =>
  body.subarray(0, HEADER_BYTES).some((byte) => byte < 0x20 && !TEXT_CONTROLS.includes(byte));

const TEXT_CONTROLS: readonly number[] = [0x09, 0x0a, 0x0c, 0x0d, 0x1b];
