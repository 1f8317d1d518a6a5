import { describe, expect, it } from 'vitest';
import { readIt, textIn } from './contents.ts';

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
    ['as windows-1252 where it is no UTF-8', WESTERN, 'text/plain', 'Größe'],
    ['as windows-1252, with its euro sign', bytes('9,50 ', [0x80]), 'text/html', '9,50 €'],
    ['as windows-1252 by the label of ISO-8859-1', bytes([0x80]), 'text/plain; charset=iso-8859-1', '€'],
    ['as UTF-16 without a mark, low byte first', Buffer.from('Größe', 'utf16le'), 'text/plain', 'Größe'],
    [
      'as UTF-16 without a mark, high byte first',
      Buffer.from('Größe', 'utf16le').swap16(),
      'text/html',
      'Größe',
    ],
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
    ['one byte of a page', bytes('<p>Größe', [0xff]), 'text/html', 'Größe\ufffd', 1],
    [
      'one byte of a page that declares UTF-8',
      bytes('<meta charset=utf-8>a', [0xff]),
      'text/html',
      'a\ufffd',
      1,
    ],
    ['bytes that claim to be UTF-8', WESTERN, 'text/html; charset=utf-8', 'Gr\ufffd\ufffde', 2],
    ['bytes that claim to be Shift_JIS', bytes([0x93]), 'text/html; charset=shift-jis', '\ufffd', 1],
    ['a character that is cut off', bytes('Größ').subarray(0, 5), 'text/plain', 'Grö\ufffd', 1],
    ['half a character of UTF-16', bytes([0xff, 0xfe, 0x41, 0, 0, 0xd8]), 'text/plain', 'A\ufffd', 1],
  ])('with replacements, which are reported, for %s', async (_what, body, type, text, count) => {
    expect(await readIt('url', body, type)).toMatchObject({
      ok: true,
      text,
      warnings: [{ code: 'bytes_replaced', count }],
    });
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

  it.each(['none', 'utf-7', 'iso-2022-kr', 'no-such-thing', 'constructor', 'utf8mb4', 'auto'])(
    'as if it had no charset where that is unknown: %s',
    async (label) => {
      const read = (body: Uint8Array | string) => textIn('url', body, `text/html; charset=${label}`);
      expect(await read('Größe')).toBe('Größe');
      expect(await read(WESTERN)).toBe('Größe');
      expect(await read(bytes('<meta charset="shift_jis"><p>', [...JAPANESE]))).toBe('日本');
    },
  );

  it('by every encoding of the HTML standard', async () => {
    const labels =
      'ibm866 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-8-i iso-8859-10 iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 koi8-r koi8-u macintosh windows-874 windows-1250 windows-1251 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258 x-mac-cyrillic gbk gb18030 big5 euc-jp iso-2022-jp shift_jis euc-kr';
    for (const label of labels.split(' ')) {
      const text = await textIn('url', bytes('a', [0xd0, 0xb1]), `text/plain; charset=${label}`);
      expect(text.startsWith('a'), label).toBe(true);
      expect(text, label).not.toBe('aб');
    }
  });
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
