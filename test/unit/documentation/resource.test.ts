import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  loadFiles,
  openApiResource,
  PAGE,
  resource,
  respondWith,
} from '../../../functions/api/documentation/resource.ts';

const aRequest = (headers: Record<string, string> = {}) =>
  ({
    headers,
    requestContext: { extendedRequestId: 'extended-request-id' },
  }) as unknown as APIGatewayProxyEvent;

const headersOf = ({ headers = {} }: ReturnType<typeof respondWith>) => headers as Record<string, string>;

describe('a resource', () => {
  const thing = resource('a text', 'text/plain', { 'Cache-Control': 'public, max-age=300' });
  const tag = headersOf(respondWith(thing, aRequest())).ETag ?? '';

  it('is sent with its type, its tag, its caching and the id of the request', () => {
    expect(respondWith(thing, aRequest())).toEqual({
      statusCode: 200,
      headers: {
        'Cache-Control': 'public, max-age=300',
        'Content-Type': 'text/plain',
        'Request-Id': 'extended-request-id',
        'X-Content-Type-Options': 'nosniff',
        ETag: expect.stringMatching(/^"[\w-]{22}"$/),
      },
      body: 'a text',
    });
  });

  it.each([
    ['its tag', () => tag],
    ['its tag among others', () => `"other", ${tag} ,"third"`],
    ['its tag, weakened on the way', () => `W/${tag}`],
    ['anything', () => ' * '],
  ])('is answered 304 to a client that has %s', (_, condition) => {
    for (const name of ['If-None-Match', 'if-none-match']) {
      const answer = respondWith(thing, aRequest({ [name]: condition() }));
      expect({ status: answer.statusCode, body: answer.body }).toEqual({ status: 304, body: '' });
      // RFC 9110, 15.4.5: the caching of a 200, and no type without a body.
      expect(headersOf(answer)).toMatchObject({ ETag: tag, 'Cache-Control': 'public, max-age=300' });
      expect(headersOf(answer)).toHaveProperty('Request-Id');
      expect(headersOf(answer)).not.toHaveProperty('Content-Type');
    }
  });

  it('is sent with any other condition', () => {
    fc.assert(
      fc.property(fc.string(), (condition) => {
        fc.pre(!condition.includes(tag) && condition.trim() !== '*');
        expect(respondWith(thing, aRequest({ 'If-None-Match': condition })).statusCode).toBe(200);
      }),
    );
  });

  it('has a tag that changes with its text only', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (first, second) => {
        const tagOf = (text: string) => resource(text, 'text/plain', {}).headers.ETag;
        expect(tagOf(first) === tagOf(second)).toBe(first === second);
      }),
    );
  });
});

describe('the document', () => {
  it('may be read by pages of any origin, and is cached for five minutes', () => {
    const answer = respondWith(openApiResource('{}'), aRequest());
    expect(headersOf(answer)).toMatchObject({
      'Access-Control-Allow-Origin': '*',
      'Cache-Control': 'public, max-age=300',
      'Content-Type': 'application/json',
    });
  });
});

describe('the files of a page', () => {
  function withFiles(names: string[], use: (files: ReturnType<typeof loadFiles>) => void): void {
    const directory = mkdtempSync(join(tmpdir(), 'page-'));
    try {
      for (const name of names)
        writeFileSync(join(directory, `${name}.br`), brotliCompressSync(`the text of ${name}`));
      use(loadFiles(pathToFileURL(`${directory}/`)));
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  it('are cached indefinitely, the page itself for five minutes', () => {
    withFiles([PAGE, 'page.1.js', 'page.2.css', 'icon.3.svg'], (files) => {
      const caching = [...files].map(([name, file]) => [name, file().headers['Cache-Control']]);
      expect(Object.fromEntries(caching)).toEqual({
        [PAGE]: 'public, max-age=300',
        'page.1.js': 'public, max-age=31536000, immutable',
        'page.2.css': 'public, max-age=31536000, immutable',
        'icon.3.svg': 'public, max-age=31536000, immutable',
      });
    });
  });

  it('have the types that browsers expect', () => {
    withFiles(['page.js', 'page.css', 'icon.svg', PAGE], (files) => {
      const types = [...files].map(([name, file]) => [name, file().contentType]);
      expect(Object.fromEntries(types)).toEqual({
        'page.js': 'text/javascript; charset=utf-8',
        'page.css': 'text/css; charset=utf-8',
        'icon.svg': 'image/svg+xml',
        [PAGE]: 'text/html; charset=utf-8',
      });
    });
  });

  it('are sent as they were before compression', () => {
    withFiles(['page.js', PAGE], (files) => {
      const texts = [...files].map(([name, file]) => [name, file().body]);
      expect(Object.fromEntries(texts)).toEqual({
        'page.js': 'the text of page.js',
        [PAGE]: 'the text of index.html',
      });
    });
  });

  it('are read once', () => {
    withFiles([PAGE], (files) => expect(files.get(PAGE)?.()).toBe(files.get(PAGE)?.()));
  });

  it('are refused when their type is unknown', () => {
    expect(() => withFiles(['page.exe'], () => undefined)).toThrow('no media type is known for page.exe');
  });

  it('forbid external sources, inline scripts and frames', () => {
    withFiles([PAGE], (files) => {
      const policy = files.get(PAGE)?.().headers['Content-Security-Policy'] ?? '';
      const directives = Object.fromEntries(
        policy.split('; ').map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1)]),
      );
      expect(directives).toMatchObject({ 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] });
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
    });
  });
});
