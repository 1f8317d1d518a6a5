import { readdirSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { type Resource, resource } from './resource.ts';

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/**
 * Nothing but the page's own files and the API of its own origin: no other host, nothing inline, no frame around it. The renderer's
 * icons are in its style sheet, as data.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE_HEADERS = {
  'Cache-Control': 'public, max-age=300',
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
};

/** Their names change with their content. */
const ASSET_HEADERS = { 'Cache-Control': 'public, max-age=31536000, immutable' };

export const PAGE = 'index.html';

/** What compressed files end with. */
const COMPRESSED = '.br';

/**
 * The files of the reference page, by name, which are kept compressed. Each is read when it is first asked for, and then kept.
 * @throws when a file has a type that is not known
 */
export function filesOf(directory: URL): ReadonlyMap<string, () => Resource> {
  return new Map(
    readdirSync(directory).map((stored) => {
      const name = stored.slice(0, -COMPRESSED.length);
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
      if (type === undefined || !stored.endsWith(COMPRESSED))
        throw new Error(`no media type is known for ${stored}`);
      let read: Resource | undefined;
      return [
        name,
        () => {
          read ??= resource(
            brotliDecompressSync(readFileSync(new URL(stored, directory))).toString('utf8'),
            type,
            name === PAGE ? PAGE_HEADERS : ASSET_HEADERS,
          );
          return read;
        },
      ];
    }),
  );
}
