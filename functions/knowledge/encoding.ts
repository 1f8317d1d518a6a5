import { ContentProblem } from './text.ts';

/** Where a document says of itself how it is encoded; far beyond the 1024 bytes in which HTML demands it. */
const PRESCAN_BYTES = 4096;

/**
 * Decodes text by the mark of its byte order, else by the charset of its content type, else by what the
 * document says of itself, else as UTF-8 (after https://encoding.spec.whatwg.org and, for the order,
 * https://html.spec.whatwg.org/#determining-the-character-encoding).
 *
 * @param declared whether the document may name its encoding itself, as HTML and XML do
 * @throws ContentProblem when it is not valid in that encoding: characters put in place of others would be
 *   told as changes
 */
export function decode(body: Uint8Array, charset: string | undefined, declared: boolean): string {
  const label = byteOrderMark(body) ?? charset ?? (declared ? ownLabel(body) : undefined);
  const decoder = decoderOf(label ?? 'utf-8');
  try {
    return decoder.decode(body);
  } catch {
    throw new ContentProblem(
      label === undefined
        ? 'the content is not valid UTF-8, and names no other encoding'
        : `the content is not valid ${decoder.encoding}, which it says it is`,
    );
  }
}

function decoderOf(label: string) {
  try {
    return new TextDecoder(label, { fatal: true });
  } catch {
    throw new ContentProblem('the content names an encoding that is not known');
  }
}

function byteOrderMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

const XML_DECLARATION = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.:-]{1,40})["']/;
const META = /<meta\s[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]{1,40})/i;

function ownLabel(body: Uint8Array): string | undefined {
  const start = Buffer.from(body.subarray(0, PRESCAN_BYTES)).toString('latin1');
  const label = XML_DECLARATION.exec(start)?.[1] ?? META.exec(start)?.[1];
  // Whoever could read that in bytes has not read UTF-16.
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
}
