import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Content coding; `identity` means none (RFC 9110, 8.4.1). */
export type Coding = 'br' | 'gzip' | 'identity';

export interface StoredFile {
  contentType: string;
  cacheControl: string | undefined;
  /** S3's digest of the stored file, in quotes. */
  etag(): string;
  /** Cached per coding. */
  body(coding: Coding): Promise<Buffer>;
  /** Whether CloudFront compresses it: a text of this length (Developer Guide, Serve compressed files). */
  compresses(): boolean;
}

/** As guessed by the AWS CLI, which uploads the files: without a charset. */
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css',
  html: 'text/html',
  ico: 'image/vnd.microsoft.icon',
  js: 'text/javascript',
  json: 'application/json',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  webmanifest: 'application/manifest+json',
  woff2: 'font/woff2',
};
const UNKNOWN = 'binary/octet-stream';

/** Extensions that CloudFront compresses. */
const COMPRESSED = new Set(['css', 'html', 'js', 'json', 'svg', 'txt', 'webmanifest']);
const LEAST_BYTES = 1_000;
const MOST_BYTES = 10_000_000;

/** The last percent of compression is not worth the time. */
const BROTLI_QUALITY = 5;

const COMPRESSIONS: Readonly<Record<Coding, (content: Buffer) => Promise<Buffer>>> = {
  br: (content) =>
    promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: promisify<Buffer, Buffer>(gzip),
  identity: async (content) => content,
};

/**
 * Reads the files below a directory, by key, so that a later build does not change what is served.
 * @param prefix of the keys, without a trailing slash
 */
export function filesIn(
  directory: string,
  { prefix, cacheControl }: { prefix: string; cacheControl: string | undefined },
): Map<string, StoredFile> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const key = relative(directory, path).split(sep).join('/');
        return [prefix === '' ? key : `${prefix}/${key}`, storedFile(path, cacheControl)];
      }),
  );
}

function storedFile(path: string, cacheControl: string | undefined): StoredFile {
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  const content = readFileSync(path);
  const bodies = new Map<Coding, Promise<Buffer>>();
  let etag: string | undefined;
  return {
    contentType: TYPES[extension] ?? UNKNOWN,
    cacheControl,
    etag() {
      etag ??= `"${createHash('md5').update(content).digest('hex')}"`;
      return etag;
    },
    body(coding) {
      const body = bodies.get(coding) ?? COMPRESSIONS[coding](content);
      bodies.set(coding, body);
      return body;
    },
    compresses: () =>
      COMPRESSED.has(extension) && content.length >= LEAST_BYTES && content.length <= MOST_BYTES,
  };
}
