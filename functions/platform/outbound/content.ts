import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { ContentError } from './failures.ts';

/**
 * Reads a body to its end and takes off what it is encoded with. Never holds more than twice the limit.
 * @throws ContentError when it is larger than `maxBytes`, encoded or not, comes too slowly, is not encoded as
 * it says, or breaks off
 */
export async function readContent(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const decoded = decoderFor(response.headers['content-encoding'] ?? '');
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);

  const body = await readWhole(response, maxBytes);
  // What was not to be encoded at all may be empty, as an encoding never is.
  return body.length === 0 ? body : decoded(body, maxBytes);
}

const tooLarge = (maxBytes: number) => new ContentError(`the content is larger than ${sizeName(maxBytes)}`);

const sizeName = (bytes: number): string =>
  bytes < 1_000_000 ? `${bytes} bytes` : `${Math.floor(bytes / 1_000_000)} MB`;

const FIRST_CAPACITY = 64 * 1024;

/**
 * The least that a server sends, averaged over a window that slides: a fast beginning pays for no trickle
 * after it.
 */
const MIN_BYTES_PER_SECOND = 1024;
/** Seconds. The first window is the grace of a server that is slow to begin. */
const RATE_WINDOW = 5;

/**
 * Calls `onSlow` in the first second in which the window brought less. Samples, so that a busy process blames
 * no server.
 */
function watchRate(sizeNow: () => number, onSlow: () => void): Disposable {
  const sizes = [0];
  const timer = setInterval(() => {
    const size = sizeNow();
    sizes.push(size);
    if (sizes.length <= RATE_WINDOW) return;
    if (size - (sizes.shift() ?? 0) < RATE_WINDOW * MIN_BYTES_PER_SECOND) onSlow();
  }, 1000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/**
 * Copies each piece: a server that sends single bytes in pieces of their own would have each of them keep the buffer that it was
 * read into, and cost a hundred times its size.
 */
async function readWhole(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  let content = new Uint8Array(Math.min(FIRST_CAPACITY, maxBytes));
  let size = 0;
  using _rate = watchRate(
    () => size,
    () => {
      reject(new ContentError('the content came too slowly'));
      response.destroy();
    },
  );

  response.on('data', (chunk: Uint8Array) => {
    const newSize = size + chunk.length;
    if (newSize > maxBytes) {
      response.destroy();
      return reject(tooLarge(maxBytes));
    }
    if (newSize > content.length) {
      const larger = new Uint8Array(Math.min(maxBytes, Math.max(newSize, 2 * content.length)));
      larger.set(content.subarray(0, size));
      content = larger;
    }
    content.set(chunk, size);
    size = newSize;
  });
  response.on('end', () => resolve(content.subarray(0, size)));
  const broken = () => reject(new ContentError('connection closed before the end of the content'));
  response.on('error', broken);
  response.on('close', broken);
  return await promise;
}

type Decoder = (body: Uint8Array, maxBytes: number) => Promise<Uint8Array>;

/** Content codings of HTTP (RFC 9110, section 8.4.1). Although none was asked for, some servers answer with one. */
function decoderFor(encoding: string): Decoder {
  switch (encoding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return async (body) => body;
    case 'gzip':
    case 'x-gzip':
      return limited(promisify(gunzip), 'gzip');
    case 'deflate':
      return (body, maxBytes) =>
        limited(promisify(isZlib(body) ? inflate : inflateRaw), 'deflate')(body, maxBytes);
    case 'br':
      return limited(promisify(brotliDecompress), 'Brotli');
    default:
      throw new ContentError('the content is encoded in a way that was not asked for');
  }
}

/** "deflate" is in the format of zlib (RFC 1950), which some servers leave out. */
const isZlib = ([first = 0, second = 0]: Uint8Array): boolean =>
  (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;

function limited(
  decode: (body: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>,
  name: string,
): Decoder {
  return async (body, maxBytes) => {
    try {
      return await decode(body, { maxOutputLength: maxBytes });
    } catch (cause) {
      const isTooLarge = cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE';
      throw isTooLarge ? tooLarge(maxBytes) : new ContentError(`the content is not valid ${name}`, { cause });
    }
  };
}
