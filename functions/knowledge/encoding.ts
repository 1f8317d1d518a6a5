import sniffEncoding from 'html-encoding-sniffer';
import { ContentProblem } from './text.ts';

/** How text may say itself how it is encoded. Without one only the mark of its byte order does. */
export type Markup = 'html' | 'xml' | undefined;

/**
 * Decodes text by the mark of its byte order, else by the charset of its content type, else by what the document says of itself, else as
 * UTF-8 (HTML standard, 13.2.3.2 Determining the character encoding; RFC 7303, section 3.2).
 * @throws ContentProblem when it is not valid in that encoding: replacement characters would look like changes
 */
export function decode(body: Uint8Array, charset: string | undefined, markup: Markup): string {
  if (charset !== undefined) decoderOf(charset);
  const named = sniffEncoding(markup === undefined ? body.subarray(0, MARK_BYTES) : body, {
    xml: markup === 'xml',
    transportLayerEncodingLabel: charset,
    defaultEncoding: null,
  });
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

function decoderOf(label: string) {
  try {
    return new TextDecoder(label, { fatal: true });
  } catch {
    throw new ContentProblem('the content names an encoding that is not known');
  }
}
