import sniffEncoding from 'html-encoding-sniffer';
import { ContentProblem } from './text.ts';

/** How text may say itself how it is encoded. Without one only the mark of its byte order does. */
export type Markup = 'html' | 'xml' | undefined;

/**
 * Decodes text by its byte order mark, else by the charset of its content type, else by the encoding that the
 * document names, else as UTF-8 (HTML standard, 13.2.3.2; RFC 7303, section 3.2).
 * @throws ContentProblem when it is not valid in that encoding: replacement characters would look like changes
 */
export function decode(body: Uint8Array, charset: string | undefined, markup: Markup): string {
  const mark = sniffEncoding(body.subarray(0, MARK_BYTES), { defaultEncoding: null });
  const named = mark ?? (charset === undefined ? ownEncoding(body, markup) : charset);
  const decoder = decoderOf(named ?? 'utf-8');
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

/** As long as the longest mark of a byte order. */
const MARK_BYTES = 3;

/** A page may name it further down than the standard's 1024 bytes; browsers then decode again. */
const PRESCAN_BYTES = 4096;

function ownEncoding(body: Uint8Array, markup: Markup): string | null {
  if (markup === undefined) return null;
  if (markup === 'html')
    return sniffEncoding(body, { maxPrescanBytes: PRESCAN_BYTES, defaultEncoding: null });
  // Feeds of careless templates begin with empty lines.
  const start = body.findIndex((byte) => !SPACES.includes(byte));
  return sniffEncoding(body.subarray(Math.max(0, start)), { xml: true, defaultEncoding: null });
}

const SPACES: readonly number[] = [0x09, 0x0a, 0x0d, 0x20];

function decoderOf(label: string) {
  try {
    return new TextDecoder(label, { fatal: true });
  } catch {
    throw new ContentProblem('the content names an encoding that is not known');
  }
}
