import { describe, expect, it } from 'vitest';
import type { SourceKind } from '../../../functions/events/bus.ts';
import { rowsOf, textIn, workbookFiles, XLSX, zip } from './contents.ts';

const RSS = '<rss version="2.0"><channel><item><title>text</title></item></channel></rss>';
const BOOK = zip(workbookFiles({ Sheet1: rowsOf([['text']]) }));

/** Reads without a type: an empty one, since a missing one would get the parameter's default. */
const untyped = (kind: SourceKind, body: string | Uint8Array) => textIn(kind, body, '');

describe('content is accepted', () => {
  it.each<[SourceKind, string | Uint8Array, string]>([
    ['url', '<p>text', 'text/html'],
    ['url', '<p>text', 'text/html; charset=utf-8'],
    ['url', '<p>text', 'Text/HTML'],
    ['url', '<p>text', ' text/html ;charset=UTF-8'],
    ['url', '<p>text', 'application/xhtml+xml'],
    ['url', 'text', 'text/plain'],
    ['feed', RSS, 'application/rss+xml'],
    ['feed', RSS, 'application/atom+xml; charset=utf-8'],
    ['feed', RSS, 'application/rdf+xml'],
    ['feed', RSS, 'application/xml'],
    ['feed', RSS, 'text/xml'],
    ['feed', RSS, 'text/plain'],
    ['feed', RSS, 'text/html'],
    ['spreadsheet', 'text', 'text/csv'],
    ['spreadsheet', 'text', 'text/csv; header=present'],
    ['spreadsheet', 'text', 'text/tab-separated-values'],
    ['spreadsheet', 'text', 'text/plain'],
    ['spreadsheet', 'text', 'application/vnd.ms-excel'],
    ['spreadsheet', BOOK, XLSX],
    ['spreadsheet', BOOK, 'application/octet-stream'],
    ['spreadsheet', BOOK, 'application/zip'],
  ])('for a %s of %#', async (kind, body, type) => {
    expect(await textIn(kind, body, type)).toBe('text');
  });

  it.each<[SourceKind, string | Uint8Array]>([
    ['url', '<p>text'],
    ['url', '\ufeff \n<p>text'],
    ['url', 'text'],
    ['feed', RSS],
    ['spreadsheet', 'text'],
    ['spreadsheet', BOOK],
  ])('for a %s without a type when it looks like one: %#', async (kind, body) => {
    expect(await untyped(kind, body)).toBe('text');
  });
});

describe('content is rejected', () => {
  it.each<[SourceKind, string, string]>([
    ['url', 'image/png', 'of type image/png, not a page'],
    ['url', 'application/pdf', 'of type application/pdf, not a page'],
    ['url', 'application/json', 'of type application/json, not a page'],
    ['url', 'application/octet-stream', 'of type application/octet-stream, not a page'],
    ['url', 'constructor/x', 'of type constructor/x, not a page'],
    ['feed', 'application/pdf', 'of type application/pdf, not a feed'],
    ['feed', 'image/svg+xml', 'of type image/svg+xml, not a feed'],
    ['spreadsheet', 'text/html; charset=utf-8', 'of type text/html, not a spreadsheet'],
    ['spreadsheet', XLSX, `of type ${XLSX}, not a spreadsheet`],
    ['spreadsheet', 'application/octet-stream', 'of type application/octet-stream, not a spreadsheet'],
  ])('for a %s when it is %s', async (kind, type, problem) => {
    expect(await textIn(kind, 'text', type)).toBe(`! the content is ${problem}`);
  });

  it('for a spreadsheet when an archive has the type of a page', async () => {
    expect(await textIn('spreadsheet', BOOK, 'text/html')).toBe(
      '! the content is of type text/html, not a spreadsheet',
    );
  });

  it.each<[SourceKind, string]>([
    ['url', 'page'],
    ['feed', 'feed'],
    ['spreadsheet', 'spreadsheet'],
  ])('for a %s without a type when it does not look like text', async (kind, name) => {
    const problem = `! the content is without a type, not a ${name}`;
    expect(await untyped(kind, Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0, 1, 2))).toBe(problem);
  });

  it.each([
    'text',
    'text/',
    '/html',
    'text/ht ml',
    `text/${'x'.repeat(200)}`,
    '<script>/x',
    'text/html"',
    '\u0000',
  ])('without repeating an invalid type: %j', async (type) => {
    expect(await textIn('url', Uint8Array.of(0), type)).toBe('! the content is without a type, not a page');
  });
});
