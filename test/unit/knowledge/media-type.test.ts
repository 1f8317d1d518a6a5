import { gzipSync } from 'node:zlib';
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
    ['spreadsheet', BOOK, 'application/x-zip-compressed'],
    ['spreadsheet', BOOK, 'binary/octet-stream'],
    ['spreadsheet', BOOK, 'application/force-download'],
    ['spreadsheet', BOOK, 'text/csv'],
    ['spreadsheet', BOOK, 'text/html'],
    ['spreadsheet', 'text', 'application/octet-stream'],
    ['spreadsheet', 'text', 'binary/octet-stream'],
    ['spreadsheet', 'text', 'application/x-download'],
    ['spreadsheet', 'text', 'application/force-download'],
    ['spreadsheet', 'text', 'text/x-csv'],
    ['spreadsheet', 'text', 'text/comma-separated-values'],
    ['spreadsheet', 'text', 'application/x-csv'],
    ['spreadsheet', 'text', 'application/excel'],
    ['spreadsheet', Buffer.from('\ufefftext', 'utf16le'), 'application/octet-stream'],
    ['spreadsheet', Buffer.from('text', 'utf16le'), 'application/octet-stream'],
    ['feed', RSS, 'application/octet-stream'],
    ['feed', RSS, 'binary/octet-stream'],
    ['feed', RSS, 'application/rss'],
    ['feed', RSS, 'application/atom'],
    ['feed', RSS, 'application/x-download'],
    ['spreadsheet', gzipSync('text'), 'text/csv'],
    ['spreadsheet', gzipSync('text'), 'application/gzip'],
    ['spreadsheet', gzipSync(BOOK), XLSX],
    ['feed', gzipSync(RSS), 'application/x-gzip'],
    ['url', gzipSync('<p>text'), 'text/html'],
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
    ['spreadsheet', 'image/png', 'of type image/png, not a spreadsheet'],
    ['spreadsheet', 'application/json', 'of type application/json, not a spreadsheet'],
  ])('for a %s when it is %s', async (kind, type, problem) => {
    expect(await textIn(kind, 'text', type)).toBe(`! the content is ${problem}`);
  });

  it.each([
    ['<!DOCTYPE html><p>Please log in', 'text/csv'],
    ['\ufeff\n<html><table><tr><td>1', 'application/vnd.ms-excel'],
    ['<?xml version="1.0"?><Workbook/>', 'application/octet-stream'],
  ])('for a spreadsheet when it is a page: %s', async (body, type) => {
    expect(await textIn('spreadsheet', body, type)).toBe(
      `! the content is of type ${type}, not a spreadsheet`,
    );
    expect(await textIn('spreadsheet', '<DATE>,<OPEN>\n1,2', type)).toBe('<DATE> | <OPEN>\n1 | 2');
  });

  it.each(['application/vnd.ms-excel', XLSX, 'application/octet-stream', ''])(
    'for a spreadsheet in an old format, or with a password, of type %j',
    async (type) => {
      const body = Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1);
      expect(await textIn('spreadsheet', body, type)).toBe(
        '! the spreadsheet is in an old Excel format, or needs a password',
      );
    },
  );

  it.each<[SourceKind, string]>([
    ['spreadsheet', 'text/csv'],
    ['url', 'text/plain'],
  ])('for a %s when its bytes are no text, in spite of its type', async (kind, type) => {
    const body = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 0xff, 0xfe);
    expect(await textIn(kind, body, type)).toBe('! the content is not text');
  });

  it.each([
    ['damaged', gzipSync('text').subarray(0, 12), 'the content is not valid gzip'],
    ['too large', gzipSync(Buffer.alloc(6 * 1024 * 1024, 'a')), 'the content is larger than 5 MB'],
    ['empty', gzipSync(''), 'there is no text in the content'],
  ])('when it is compressed and %s', async (_what, body, problem) => {
    expect(await textIn('spreadsheet', body)).toBe(`! ${problem}`);
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
