import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { breakLinks, shorten, toOneLine } from '../../../functions/notices/mail.ts';
import { texts } from '../aws/arbitraries.ts';

describe('text in one line', () => {
  it('has no control characters, direction overrides, invisible characters or line breaks', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const line = toOneLine(text);
        expect(line).not.toMatch(/\p{Cc}|[\u2028\u2029]/u);
        expect(line).not.toMatch(/[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad]/u);
        expect(line.isWellFormed()).toBe(true);
        expect(line).toBe(line.trim());
      }),
    );
  });

  it('is unchanged when there is nothing to remove', () => {
    fc.assert(fc.property(texts, (text) => toOneLine(toOneLine(text)) === toOneLine(text)));
    for (const text of ['Öffnungszeiten 9–17', 'می‌خواهم', '👩‍👩‍👧', 'a <b> & "c"'])
      expect(toOneLine(text)).toBe(text);
  });

  it.each([
    ['Invoice\r\nBcc: everybody@example.com', 'Invoice Bcc: everybody@example.com'],
    ['user\u202egpj.exe', 'usergpj.exe'],
    ['pay\u200bpal', 'paypal'],
    ['a\u0000\u001b[31mb', 'a [31mb'],
    ['a\u2028b\u00a0c', 'a b c'],
    ['\u200d', ''],
    [' \u200c\u200d\ufe0f\u3164 ', ''],
  ])('of %j is %j', (text, line) => {
    expect(toOneLine(text)).toBe(line);
  });
});

describe('shortened text', () => {
  it('is unchanged, or its beginning and an ellipsis, and never too long', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 50 }), (text, max) => {
        const short = shorten(text.toWellFormed(), max);
        expect(short.length).toBeLessThanOrEqual(max);
        expect(short.isWellFormed()).toBe(true);
        if (text.length <= max) expect(short).toBe(text.toWellFormed());
        else {
          expect(short.endsWith('…')).toBe(true);
          expect(text.toWellFormed().startsWith(short.slice(0, -1))).toBe(true);
        }
      }),
    );
  });

  it('omits a character that would be cut in half', () => {
    expect(shorten('ab😀cd', 4)).toBe('ab…');
    expect(shorten('ab😀cd', 5)).toBe('ab😀…');
  });
});

describe('text without links', () => {
  /** Patterns that mail programs turn into links. */
  const LINKS = [/\w:\/\/\S/, /[\w-]\.[a-z]/i, /\w@\w/, /www\./i];

  it('has no pattern that mail programs turn into links, and looks the same', () => {
    const hosts = fc.constantFrom('evil.example', 'www.evil.com', 'xn--80ak6aa92e.com', 'a.b.c.museum');
    const links = fc.oneof(
      hosts,
      hosts.map((host) => `https://${host}/path?x=1`),
      hosts.map((host) => `someone@${host}`),
    );
    fc.assert(
      fc.property(texts, links, texts, (before, link, after) => {
        const text = `${before} ${link} ${after}`;
        const shown = breakLinks(text);
        for (const pattern of LINKS) expect(shown).not.toMatch(pattern);
        expect(shown.replaceAll('\u200b', '')).toBe(text.replaceAll('\u200b', ''));
      }),
    );
  });

  it.each(['From 9.30 to 17.00.', 'It ends. And goes on.', '12.50 EUR: 3/4'])(
    'leaves %j unchanged',
    (text) => {
      expect(breakLinks(text)).toBe(text);
    },
  );
});
