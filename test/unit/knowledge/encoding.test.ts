import { describe, expect, it } from 'vitest';
import { textIn } from './contents.ts';

const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Uint8Array.from(part))));

/** "Größe" in windows-1252, "日本" in Shift_JIS, "й" in KOI8-R. */
const WESTERN = bytes('Gr', [0xf6, 0xdf], 'e');
const JAPANESE = bytes([0x93, 0xfa, 0x96, 0x7b]);
const RUSSIAN = bytes([0xca]);

describe('text content is decoded', () => {
  it.each([
    ['as UTF-8 without a charset', bytes('Größe'), 'text/plain', 'Größe'],
    ['by the content type', WESTERN, 'text/plain; charset=windows-1252', 'Größe'],
    ['by a content type in quotes', WESTERN, 'text/plain; charset="ISO-8859-1"', 'Größe'],
    ['by a content type in single quotes', WESTERN, "text/plain; charset='ISO-8859-1'", 'Größe'],
    [
      'by a content type that is sent twice',
      WESTERN,
      'text/plain; charset=latin1, text/plain; charset=latin1',
      'Größe',
    ],
    ['as UTF-8 by a content type with an empty charset', bytes('Größe'), 'text/plain; charset=""', 'Größe'],
    [
      'by its byte order mark, where the content type has an unknown charset',
      bytes([0xef, 0xbb, 0xbf], 'Größe'),
      'text/plain; charset=utf-7',
      'Größe',
    ],
    [
      'by the page, 3,000 bytes from its beginning',
      bytes(`<script>${' '.repeat(3000)}</script><meta charset="windows-1252"><p>`, [...WESTERN]),
      'text/html',
      'Größe',
    ],
    ['by a content type in capitals', JAPANESE, 'TEXT/PLAIN;CHARSET=SHIFT_JIS', '日本'],
    [
      'by a content type with more parameters',
      RUSSIAN,
      'text/plain; format=flowed; charset=koi8-r; x=y',
      'й',
    ],
    ['by the page', bytes('<meta charset="shift_jis"><p>', [...JAPANESE]), 'text/html', '日本'],
    [
      'by an http-equiv element',
      bytes('<meta http-equiv="Content-Type" content="text/html; charset=windows-1252"><p>', [...WESTERN]),
      'text/html',
      'Größe',
    ],
    [
      'by the content type before the page',
      bytes('<meta charset="shift_jis"><p>Größe'),
      'text/html; charset=utf-8',
      'Größe',
    ],
    [
      'by its byte order mark before anything else',
      bytes([0xef, 0xbb, 0xbf], '<meta charset="shift_jis"><p>Größe'),
      'text/html; charset=windows-1252',
      'Größe',
    ],
    ['by its byte order mark, low byte first', bytes([0xff, 0xfe, 0x47, 0, 0xf6, 0]), 'text/plain', 'Gö'],
    ['by its byte order mark, high byte first', bytes([0xfe, 0xff, 0, 0x47, 0, 0xf6]), 'text/plain', 'Gö'],
    ['as UTF-8 where a page claims to be UTF-16', bytes('<meta charset=utf-16>ö'), 'text/html', 'ö'],
  ])('%s', async (_how, body, type, text) => {
    expect(await textIn('url', body, type)).toBe(text);
  });

  it.each(['', '\r\n\n'])('by the XML declaration after %j', async (before) => {
    const feed = bytes(
      before,
      '<?xml version="1.0" encoding="windows-1252"?><rss version="2.0"><channel><item><title>',
      [...WESTERN],
      '</title></item></channel></rss>',
    );
    expect(await textIn('feed', feed)).toBe('Größe');
  });

  it.each([
    ['it has no charset', WESTERN, 'text/plain', 'not valid UTF-8, and names no other encoding'],
    ['it has no charset, in Japanese', JAPANESE, 'text/html', 'not valid UTF-8, and names no other encoding'],
    ['it claims to be UTF-8', WESTERN, 'text/html; charset=utf-8', 'not valid utf-8, which it says it is'],
    [
      'it claims to be Shift_JIS',
      bytes([0x93]),
      'text/html; charset=shift-jis',
      'not valid shift_jis, which it says it is',
    ],
    [
      'a character is cut off',
      bytes('Größ').subarray(0, 5),
      'text/plain',
      'not valid UTF-8, and names no other encoding',
    ],
    [
      'it has surrogates',
      bytes([0xed, 0xa0, 0x80]),
      'text/plain',
      'not valid UTF-8, and names no other encoding',
    ],
    [
      'it has halves of UTF-16',
      bytes([0xff, 0xfe, 0, 0xd8]),
      'text/plain',
      'not valid utf-16le, which it says it is',
    ],
  ])('or rejected where it is not valid: %s', async (_what, body, type, problem) => {
    expect(await textIn('url', body, type)).toBe(`! the content is ${problem}`);
  });

  it.each(['utf-7', 'no-such-thing', 'constructor'])(
    'as UTF-8 where the page itself has an unknown charset, as browsers do: %s',
    async (label) => {
      expect(await textIn('url', `<meta charset=${label}>ö`, 'text/html')).toBe('ö');
    },
  );

  it('as UTF-8 where a comment has another charset', async () => {
    expect(await textIn('url', '<!-- <meta charset="shift_jis"> --><p>Größe', 'text/html')).toBe('Größe');
  });

  it.each(['utf-7', 'iso-2022-kr', 'no-such-thing', 'constructor'])(
    'or rejected where it has an unknown charset: %s',
    async (label) => {
      const problem = '! the content names an encoding that is not known';
      expect(await textIn('url', 'x', `text/plain; charset=${label}`)).toBe(problem);
    },
  );
});

describe('text content is normalized', () => {
  it.each([
    ['normal forms', 'cafe\u0301', 'café'],
    ['ends of lines', 'a\r\nb\rc\u2028d', 'a\nb\nc\nd'],
    ['spaces', 'a\u00a0\u2003 \tb', 'a b'],
    ['spaces at the ends of lines', ' a \n b ', 'a\nb'],
    ['empty lines', 'a\n\n\n \n\nb', 'a\n\nb'],
    ['controls', 'a\u0000\u001b\u0085\ufeffb', 'ab'],
    ['marks beyond the thirtieth', `a${'\u0305'.repeat(1000)}`, `a${'\u0305'.repeat(30)}`],
  ])('in its %s', async (_what, raw, text) => {
    expect(await textIn('url', raw, 'text/plain')).toBe(text);
  });

  it('in time, for any characters', async () => {
    for (const unit of ['\u0301\u0323', ' \t', '\n ', 'a ', '\r', '\ufeff', ' \u00a0'])
      expect((await textIn('url', unit.repeat(500_000), 'text/plain')).length).toBeGreaterThan(0);
  });
});
