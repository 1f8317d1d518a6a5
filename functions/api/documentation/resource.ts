import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { getRequestId, header } from '../../http/lifecycle.ts';

/** A document that is the same for all callers. */
export interface Resource {
  body: string;
  contentType: string;
  /** Header fields of every response, 304 included. */
  headers: Record<string, string>;
}

/** @param headers other than `Content-Type`, such as `Cache-Control` */
export const resource = (body: string, contentType: string, headers: Record<string, string>): Resource => ({
  body,
  contentType,
  headers: { 'X-Content-Type-Options': 'nosniff', ...headers, ETag: `"${hashContent(body)}"` },
});

const hashContent = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** Returns a resource, or 304 when the caller's copy is current (RFC 9110, 15.4.5). */
export function respondWith(
  { body, contentType, headers }: Resource,
  event: APIGatewayProxyEvent,
): APIGatewayProxyResult {
  const common = { ...headers, 'Request-Id': getRequestId(event) };
  return matches(header(event, 'if-none-match'), headers.ETag)
    ? { statusCode: 304, headers: common, body: '' }
    : { statusCode: 200, headers: { ...common, 'Content-Type': contentType }, body };
}

/** `If-None-Match` is `*` or a list of entity tags, and compares weakly (RFC 9110, 13.1.2). */
function matches(condition: string | undefined, tag: string | undefined): boolean {
  if (condition === undefined) return false;
  if (condition.trim() === '*') return true;
  return condition.split(',').some((listed) => listed.trim().replace(/^W\//, '') === tag);
}

/** The OpenAPI document, readable by pages of any origin. */
export const openApiResource = (document: string): Resource =>
  resource(document, 'application/json', {
    'Cache-Control': 'public, max-age=300',
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'ETag, Request-Id',
  });

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Allows only files and the API of the page's origin, and `data:` images, which the style sheet has. */
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

/** Cached forever: file names change with their content. */
const ASSET_HEADERS = { 'Cache-Control': 'public, max-age=31536000, immutable' };

export const PAGE = 'index.html';

const COMPRESSED = '.br';

/**
 * Files of the reference page by name, stored compressed. Each is read on first use.
 * @throws Error for a file of unknown type
 */
export function loadFiles(directory: URL): ReadonlyMap<string, () => Resource> {
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
