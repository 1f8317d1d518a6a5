import { readdirSync, readFileSync } from 'node:fs';
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

/**
 * The files of the reference page, by name, read once.
 * @throws when a file has a type that is not known
 */
export function filesOf(directory: URL): ReadonlyMap<string, Resource> {
  return new Map(
    readdirSync(directory).map((name) => {
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
      if (type === undefined) throw new Error(`no media type is known for ${name}`);
      const body = readFileSync(new URL(name, directory), 'utf8');
      return [name, resource(body, type, name === PAGE ? PAGE_HEADERS : ASSET_HEADERS)];
    }),
  );
}
