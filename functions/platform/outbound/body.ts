import type { IncomingMessage } from 'node:http';

/** What is kept of the body of an answer that is not a success. */
const EXCERPT_BYTES = 1024;

/**
 * Reads the beginning of a body and abandons the rest. Ends at the latest when the response is destroyed, and never
 * rejects: an answer whose body breaks off is still that answer.
 *
 * Nothing is decompressed: a small compressed body can grow without bound.
 *
 * @returns text of at most {@link EXCERPT_BYTES} in UTF-8; bytes that are not UTF-8 become U+FFFD
 */
export async function readExcerpt(response: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response) {
      if (!(chunk instanceof Uint8Array)) continue;
      chunks.push(chunk.subarray(0, EXCERPT_BYTES - size));
      size += chunk.length;
      if (size >= EXCERPT_BYTES) break;
    }
  } catch {
    return excerptOf(chunks);
  }
  return excerptOf(chunks);
}

/** Cuts twice, at a character each time: replacement characters take more bytes than what they stand for. */
function excerptOf(chunks: Uint8Array[]): string {
  const text = decodeWhole(Buffer.concat(chunks));
  return decodeWhole(Buffer.from(text).subarray(0, EXCERPT_BYTES));
}

/** Leaves out a character that is cut off at the end, as `stream` makes the decoder wait for the rest of it. */
function decodeWhole(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}
