import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SourceKind } from '../../../functions/events/bus.ts';
import { read } from '../../../functions/knowledge/read.ts';
import type { Content } from '../../../functions/knowledge/source-content.ts';
import { casesOf } from '../../support/cases.ts';
import { content, readIt, rowsOf, workbookFiles, XLSX, zip } from './contents.ts';

const kinds = fc.constantFrom(...SourceKind.options);
const types = fc.constantFrom(
  undefined,
  'text/html',
  'text/plain; charset=shift_jis',
  'text/csv',
  'application/xml',
  'application/octet-stream',
  XLSX,
  'image/png',
  'nonsense',
);

/** Checks that a content has a normalized text or a problem of one line. */
async function expectSound(kind: SourceKind, { body, contentType }: Content) {
  const extraction = await read(kind, { body, contentType });
  if (!extraction.ok) {
    expect(extraction.problem).toMatch(/^the [\x20-\x7e]{5,200}$|^there is no text in the content$/);
    expect(extraction.problem).not.toMatch(/node_modules|\.[jt]s\b|\.mjs|file:|\bat \w|Error/);
    return;
  }
  const { text, title = 'title' } = extraction;
  expect(text.isWellFormed()).toBe(true);
  expect(text).toBe(text.trim());
  if (kind !== 'feed') expect(text).not.toBe('');
  expect(text).not.toMatch(/[^\S\n ]|[^\P{Cc}\n]|\n\n\n| \n|\n | {2}/u);
  expect(text.normalize('NFC')).toBe(text);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_000_000);
  expect(title.isWellFormed()).toBe(true);
  expect(title).toMatch(/^\S(.{0,298}\S)?$/u);
}

/** Parts of valid and invalid documents. */
const pieces = fc.constantFrom(
  '<p>',
  '</p>',
  '<div',
  '>',
  '<',
  '/>',
  '</div>',
  '<script>',
  '</script>',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<!DOCTYPE',
  '<?xml version="1.0"?>',
  '<rss version="2.0">',
  '<channel>',
  '<item>',
  '<title>',
  '</title>',
  '</item>',
  '</channel></rss>',
  '<feed xmlns="http://www.w3.org/2005/Atom">',
  '<entry>',
  '</entry>',
  '</feed>',
  '&',
  '&amp;',
  '&#x0;',
  '&#xd800;',
  '&nbsp;',
  '&lt;',
  '"',
  "'",
  '=',
  ',',
  ';',
  '\t',
  '\r',
  '\n',
  ' ',
  'word',
  'é',
  '\u0301',
  '\u0000',
  '😀',
  '世界',
  '\ufeff',
  '{"version":"https://jsonfeed.org/version/1","items":[',
  '{"title":"x"}',
  ']}',
  'title="x"',
  '<body>',
  '<html>',
  '</body></html>',
  '<table><tr><td>',
  '<svg>',
  '<template>',
  '<frameset>',
  '<plaintext>',
  '<textarea>',
);

describe('extraction returns a text or a problem', () => {
  it('for any bytes', async () => {
    const contents = fc.record({
      body: fc.uint8Array({ maxLength: 500 }),
      contentType: types,
      url: fc.constant(''),
    });
    await fc.assert(fc.asyncProperty(kinds, contents, expectSound), { numRuns: casesOf(60, 300) });
  });

  it('for any parts of documents', async () => {
    const contents = fc
      .tuple(fc.array(pieces, { maxLength: 40 }), types)
      .map(([parts, type]) => content(parts.join(''), type));
    await fc.assert(fc.asyncProperty(kinds, contents, expectSound), { numRuns: casesOf(100, 500) });
  });

  it('for workbooks with changed bytes', async () => {
    const whole = zip(workbookFiles({ A: rowsOf([['one', 'two']]), B: rowsOf([['three']]) }));
    const changes = fc.array(fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 })), {
      minLength: 1,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(changes, async (changed) => {
        const body = Uint8Array.from(whole);
        for (const [at, value] of changed) body[at] = value;
        await expectSound('spreadsheet', content(body, XLSX));
      }),
      { numRuns: casesOf(60, 300) },
    );
  });

  it('for any parts of sheets', async () => {
    const xml = fc.constantFrom(
      '<row',
      '<c',
      '<v>',
      '</v>',
      '</c>',
      '</row>',
      '>',
      ' r="A1"',
      ' r="1"',
      ' r="-1"',
      ' r="B"',
      ' t="s"',
      ' t="b"',
      ' t="inlineStr"',
      ' s="9"',
      '<is><t>',
      '</t></is>',
      '1',
      '1e308',
      'x',
      '&amp;',
      '&#0;',
      '</sheetData>',
      '<sheetData>',
    );
    const sheets = fc.array(xml, { maxLength: 30 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(sheets, async (sheet) => {
        await expectSound('spreadsheet', content(zip(workbookFiles({ A: sheet })), XLSX));
      }),
      { numRuns: casesOf(60, 300) },
    );
  });
});

// Each of these made some expression or parser take minutes.
describe('content that slows careless parsers is read in time', () => {
  const N = casesOf(10_000, 50_000);
  it.each<[string, SourceKind, string]>([
    ['tags that begin', 'url', '<a'.repeat(N)],
    ['comments that begin', 'url', '<!--'.repeat(N)],
    ['sections that begin', 'feed', `<rss version="2.0">${'<![CDATA['.repeat(N)}`],
    ['scripts that begin', 'url', '<script'.repeat(N)],
    ['scripts in scripts', 'url', '<script>'.repeat(N)],
    ['declarations that begin', 'url', '<?xml '.repeat(N)],
    ['charsets that begin', 'url', '<meta '.repeat(N)],
    ['spaces in a tag', 'url', `<p${' '.repeat(20 * N)}`],
    ['spaces in a title', 'url', `<title>a${' '.repeat(20 * N)}b</title>x`],
    ['dashes in a title', 'url', `<title>${' - '.repeat(N)}</title>x`],
    ['spaces between words', 'url', `<p>a${' \n'.repeat(10 * N)}b`],
    ['signs of entities', 'url', '&'.repeat(N)],
    ['numbers of entities', 'url', '&#'.repeat(N)],
    ['an attribute again and again', 'url', `<p ${'a=1 '.repeat(N)}>x`],
    ['a class of many names', 'url', `<div class="${'article-and-'.repeat(N)}">x</div>`],
    ['a style of many rules', 'url', `<div style="${'a:b;'.repeat(N)}">x</div>`],
    ['quotes that begin', 'spreadsheet', '"'.repeat(N)],
    ['quotes and separators', 'spreadsheet', '",'.repeat(N)],
    [
      'names of namespaces',
      'feed',
      `<rss version="2.0" ${Array.from({ length: 2000 }, (_, n) => `xmlns:a${n}="u${n}"`).join(' ')}/>`,
    ],
    ['processing instructions', 'feed', '<?x ?>'.repeat(N)],
    ['ends without a start', 'feed', `<rss><channel><item>${'</a>'.repeat(20 * N)}`],
    ['starts and ends', 'feed', `<rss><channel><item>${'<a></b>'.repeat(N)}`],
    [
      'attributes',
      'feed',
      `<rss><channel ${Array.from({ length: N }, (_, n) => `a${n}=""`).join(' ')}/></rss>`,
    ],
    ['escaped ends of sections', 'feed', `<rss><channel>${`]]&gt;${' '.repeat(50)}`.repeat(N)}`],
    ['escaped sections', 'feed', `<rss><item><title>${'&lt;![CDATA['.repeat(N)}</title></item></rss>`],
    ['texts in one item', 'feed', `<rss><item>${'<description>a b</description>'.repeat(N)}</item></rss>`],
    [
      'texts that grow',
      'feed',
      `<rss><item>${Array.from({ length: 500 }, (_, n) => `<summary>${'a '.repeat(n)}${n}</summary>`).join('')}</item></rss>`,
    ],
    [
      'elements in a text',
      'feed',
      `<rss><item><description>${'<b>&lt;</b>'.repeat(N)}</description></item></rss>`,
    ],
    ['entities in a text', 'feed', `<feed><entry><title>${'&l;&'.repeat(N)}</title></entry></feed>`],
    ['dots at an end', 'feed', `<rss><item><title>${'.'.repeat(50 * N)}</title></item></rss>`],
    ['items without an end', 'feed', `<rss version="2.0"><channel>${'<item>'.repeat(150)}`],
    [
      'items by the thousand',
      'feed',
      `<rss version="2.0"><channel>${'<item><title>a</title></item>'.repeat(5000)}</channel></rss>`,
    ],
  ])('with %s', async (_what, kind, body) => {
    const extraction = await readIt(kind, body);
    expect(typeof extraction.ok).toBe('boolean');
  });
});
