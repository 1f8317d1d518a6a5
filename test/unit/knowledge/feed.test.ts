import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { casesOf } from '../../support/cases.ts';
import { readIt, textIn } from './contents.ts';

const rss = (items: string, head = '<title>Blog</title>') =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>${head}${items}</channel></rss>`;
const atom = (entries: string) =>
  `<feed xmlns="http://www.w3.org/2005/Atom"><title>Blog</title>${entries}</feed>`;
const json = (items: unknown) =>
  JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', title: 'Blog', items });

describe('text of a feed', () => {
  it.each([
    ['RSS', rss('<item><title>One</title><description>Two</description></item>')],
    [
      'RSS with content beside its summary',
      rss(
        '<item><title>One</title><description>T…</description><content:encoded><![CDATA[<p>Two</p>]]></content:encoded></item>',
      ),
    ],
    [
      'RSS with HTML',
      rss('<item><title>One</title><description>&lt;p&gt;Two&lt;/p&gt;</description></item>'),
    ],
    [
      'RSS with sections of text',
      rss('<item><title><![CDATA[One]]></title><description><![CDATA[<b>Two</b>]]></description></item>'),
    ],
    [
      'RSS with comments',
      rss('<!-- <!DOCTYPE x> --><item><title>One</title><description>Two</description></item>'),
    ],
    ['Atom', atom('<entry><title>One</title><summary>Two</summary></entry>')],
    ['Atom with HTML', atom('<entry><title>One</title><content type="html">&lt;i&gt;Two</content></entry>')],
    [
      'Atom with XHTML',
      atom(
        '<entry><title>One</title><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Two</p></div></content></entry>',
      ),
    ],
    [
      'RDF',
      '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><title>Blog</title></channel><item><title>One</title><description>Two</description></item></rdf:RDF>',
    ],
    ['JSON Feed', json([{ id: '1', title: 'One', content_html: '<p>Two' }])],
    ['JSON Feed in plain text', json([{ id: '1', title: 'One', content_text: 'Two' }])],
  ])('in %s consists of its items', async (_what, source) => {
    expect(await readIt('feed', source)).toEqual({
      ok: true,
      title: 'Blog',
      text: expect.stringMatching(/^One\n+Two$/),
    });
  });

  it('keeps the order of items, and omits their metadata', async () => {
    const item = (name: string) =>
      `<item><title>${name}</title><link>https://x.example/${name}</link><pubDate>Wed, 21 Oct 2015 07:28:00 GMT</pubDate><guid>${name}-id</guid></item>`;
    expect(await textIn('feed', rss(item('b') + item('a') + item('c')))).toBe('b\n\na\n\nc');
  });

  it.each([
    ['Atom without a type', atom('<entry><title>a &lt;b&gt; c</title></entry>'), 'a <b> c'],
    ['JSON', json([{ id: '1', title: 'a <b> c' }]), 'a <b> c'],
    ['Atom as HTML', atom('<entry><title type="html">a &lt;b&gt; c</title></entry>'), 'a c'],
    ['RSS', rss('<item><title>AT&amp;amp;T</title></item>'), 'AT&T'],
    ['RSS with a bare sign', rss('<item><title>1 &lt; 2</title></item>'), '1 < 2'],
    ['Atom with undeclared entities', atom('<entry><title>K&uuml;che&nbsp;1</title></entry>'), 'Küche 1'],
    ['RSS with undeclared entities', rss('<item><title>K&uuml;che&nbsp;1</title></item>'), 'Küche 1'],
    ['a bare ampersand', rss('<item><title>AT&T & Co</title></item>'), 'AT&T & Co'],
    ['inline HTML', rss('<item><description>a <b>b</b><br/>1 &lt; 2</description></item>'), 'a b\n\n1 < 2'],
    [
      'HTML escaped twice',
      rss('<item><description>&amp;lt;p&amp;gt;One&amp;lt;/p&amp;gt;</description></item>'),
      'One',
    ],
    ['a title about HTML', rss('<item><title>The &amp;lt;/p&amp;gt; tag</title></item>'), 'The </p> tag'],
    ['HTML without its type', atom('<entry><summary>&lt;p&gt;One&lt;/p&gt;</summary></entry>'), 'One'],
    [
      'plain text about HTML',
      atom('<entry><summary type="text">&lt;p&gt;One&lt;/p&gt;</summary></entry>'),
      '<p>One</p>',
    ],
    [
      'an escaped section',
      rss('<item><description>&lt;![CDATA[One &lt;b&gt;two&lt;/b&gt;]]&gt;</description></item>'),
      'One two',
    ],
    [
      'a section with an escaped end',
      rss('<item><title><![CDATA[One]]&gt;</title></item><item><title>Two</title></item>'),
      'One\n\nTwo',
    ],
    [
      'an end of a section in two sections',
      rss('<item><title><![CDATA[a[b[0]]]]><![CDATA[> c]]></title></item>'),
      'a[b[0]]> c',
    ],
    ['control characters', rss('<item><title>O\u0001ne&#0;&#1;</title></item>'), 'One\ufffd'],
    ['UTF-8 encoded twice', rss('<item><title>KÃ¼che</title></item>'), 'Küche'],
    ['Latin that looks like it', rss('<item><title>Ã¼ é</title></item>'), 'Ã¼ é'],
  ])('decodes entities once per level: %s', async (_what, source, text) => {
    expect(await textIn('feed', source)).toBe(text);
  });

  it.each([
    ['no items', rss('')],
    ['empty items', rss('<item><title> </title><description/></item>')],
    ['no entries', atom('')],
    ['no JSON items', json([])],
    ['only control characters', rss('<item><title>\u0085\u200e</title></item>').replace('\u200e', '')],
    ['only pictures', rss('<item><description>&lt;img src="x"&gt;</description></item>')],
  ])('is empty for a feed with %s', async (_what, source) => {
    expect(await readIt('feed', source)).toEqual({ ok: true, title: 'Blog', text: '' });
  });

  const media = 'xmlns:media="http://search.yahoo.com/mrss/"';
  it.each([
    [
      'media:description in a group',
      atom(
        `<entry ${media}><title>One</title><media:group><media:title>One</media:title><media:content url="v"/><media:description>Two</media:description></media:group></entry>`,
      ),
    ],
    [
      'media:description of a file',
      rss(
        `<item ${media}><title>One</title><media:content url="v"><media:title>logo</media:title><media:credit>Me</media:credit><media:description>Two</media:description></media:content></item>`,
      ),
    ],
    ['itunes:summary', rss('<item><title>One</title><itunes:summary>Two</itunes:summary></item>')],
    ['itunes:subtitle', rss('<item><title>One</title><itunes:subtitle>Two</itunes:subtitle></item>')],
    ['dc:description', rss('<item><title>One</title><dc:description>Two</dc:description></item>')],
    ['dc:title', rss('<item><dc:title>One</dc:title><description>Two</description></item>')],
    [
      'a text in an extension',
      rss('<item><title>One</title><yandex:full-text>Two</yandex:full-text></item>'),
    ],
    [
      'XHTML in RSS',
      rss(
        '<item><title>One</title><x:body xmlns:x="http://www.w3.org/1999/xhtml"><x:p>Two</x:p></x:body></item>',
      ),
    ],
    [
      'names with other prefixes',
      '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:title>Blog</a:title><a:entry><a:title>One</a:title><a:content>Two</a:content></a:entry></a:feed>',
    ],
    [
      'RSS 0.90',
      '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/"><channel><title>Blog</title></channel><image><title>no</title></image><item><title>One</title><description>Two</description></item></r:RDF>',
    ],
    [
      'RSS 0.91 with its document type',
      `<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">${rss('<item><title>One</title><description>Two</description></item>')}`,
    ],
    [
      'upper case',
      '<RSS><Channel><Title>Blog</Title><Item><Title>One</Title><Description>Two</Description></Item></Channel></RSS>',
    ],
    [
      'broken dates',
      rss('<item><title>One</title><pubDate>soon</pubDate><description>Two</description></item>'),
    ],
    [
      'Atom 0.3 in Base64',
      atom(
        '<entry><title>One</title><content type="text/html" mode="base64">PHA+VHdvPC9wPg==</content></entry>',
      ),
    ],
    [
      'an author and a source',
      atom(
        '<entry><author><name>no</name></author><source><title>no</title></source><title>One</title><summary>Two</summary></entry>',
      ),
    ],
  ])('includes %s', async (_what, source) => {
    expect(await readIt('feed', source)).toEqual({
      ok: true,
      title: 'Blog',
      text: expect.stringMatching(/^One\n+Two$/),
    });
  });

  const content = (text: string) => `<content:encoded><![CDATA[${text}]]></content:encoded>`;
  it.each([
    [
      'a longer description',
      `<description>One two three</description>${content('<p>One two</p>')}`,
      'One two three',
    ],
    [
      'a part of the content',
      `<description>One two</description>${content('<p>One two three</p>')}`,
      'One two three',
    ],
    [
      'a shortened content',
      `<description>One tw…</description>${content('<p>One two three</p>')}`,
      'One two three',
    ],
    ['another text', `<description>Price 9</description>${content('<p>One two</p>')}`, 'Price 9\nOne two'],
    [
      'the same text three times',
      `<description>One</description>${content('One')}<itunes:summary>One</itunes:summary>`,
      'One',
    ],
    ['the title', '<title>One two</title><description>One two</description>', 'One two'],
    [
      'the title with another price',
      '<title>It is 8</title><description>It is 9</description>',
      'It is 8\nIt is 9',
    ],
  ])('has a text that others repeat once: %s', async (_what, item, text) => {
    expect(await textIn('feed', rss(`<item>${item}</item>`))).toBe(text);
  });

  const atomContent = (type: string, value: string) =>
    atom(`<entry><title>Logo</title><content ${type}>${value}</content></entry>`);
  it.each([
    [
      'a drawing',
      atomContent('type="image/svg+xml"', '<svg><title>x</title><path d="M1 2"/><text>y</text></svg>'),
    ],
    ['a drawing in XHTML', atomContent('type="xhtml"', '<div><svg><text>y</text></svg></div>')],
    ['an untyped drawing', atomContent('', '<svg:svg xmlns:svg="s"><svg:text>y</svg:text></svg:svg>')],
    ['a picture', atomContent('type="image/png"', 'iVBORw0KGgo=')],
    ['an archive', atomContent('type="application/octet-stream" mode="base64"', 'iVBORw0KGgo=')],
    [
      'a picture in a page',
      atomContent('type="html"', '&lt;img src="data:image/png;base64,iVBORw0KGgo="&gt;'),
    ],
    ['a script', atomContent('type="html"', '&lt;script&gt;x()&lt;/script&gt;')],
  ])('excludes %s', async (_what, source) => {
    expect(await textIn('feed', source)).toBe('Logo');
  });

  it('keeps the lines of plain text', async () => {
    const text = 'One\ntwo &amp; three\n\nfour';
    expect(await textIn('feed', rss(`<item><description>${text}</description></item>`))).toBe(
      'One\ntwo & three\n\nfour',
    );
    expect(await textIn('feed', atom(`<entry><media:description>${text}</media:description></entry>`))).toBe(
      'One\ntwo & three\n\nfour',
    );
  });
});

describe('feed reader', () => {
  it.each([
    ['a page', '<!-- x --><html><body>x</body></html>'],
    ['other XML', '<note><to>x</to></note>'],
    ['other JSON', '{"a":1}'],
    ['broken JSON', '{"version":"https://jsonfeed.org/version/1.1","items":['],
    ['text', 'hello'],
    ['a broken tag', '<rss version="2.0"><channel><item><title>x'],
    ['a start of RSS', '<rss version="2.0"><chan'],
    ['a start of RDF', '<rdf:RDF><channel><title>x</title></channel>'],
    ['a start of a feed without entries', atom('').replace('</feed>', '')],
    ['a sitemap', '<urlset><url><loc>https://x.example/</loc></url></urlset>'],
    ['JSON of entries that are none', json([1, 2])],
    ['nothing but a start', '<?xml'],
  ])('rejects content that is no feed: %s', async (_what, source) => {
    expect(await textIn('feed', source)).toMatch(
      /^! (the content is not a valid feed|there is no text in the content)$/,
    );
  });
});

describe('feed that is not well-formed', () => {
  const one = '<item><title>One</title></item>';

  it.each([
    ['a warning of PHP before it', `<br />\n<b>Warning</b>: x in <b>y.php</b><br />\n${rss(one)}`],
    ['a page around it', `<html><body>${rss(one).replace(/<\?xml.*\n/, '')}</body></html>`],
    ['a comment and an empty line before it', `\n<!-- x -->\n${rss(one)}`],
    ['text after it', `${rss(one)}<!-- 0.2 s --></body>x`],
    ['an item without an end', rss('<item><title>One</title>')],
    ['a text without an end', rss('<item><title>One</item>')],
    ['a title without an end', rss(one, '<title>Blog')],
    ['an attribute without quotes', rss('<item><enclosure url=x&y length=1 /><title>One</title></item>')],
    ['an open comment after it', `${rss(one)}<!-- `],
  ])('is read with %s', async (_what, source) => {
    expect(await readIt('feed', source)).toMatchObject({ ok: true, text: 'One' });
  });

  it.each([
    ['in an item', `<item><title>Two</title><description>Thr`],
    ['between items', ''],
    ['in a tag', '<item><title>Two</title><descr'],
    ['in a section', '<item><title>Two</title><description><![CDATA[Thr'],
  ])('is read up to its end, with a warning, when it ends %s', async (_what, end) => {
    expect(await readIt('feed', rss(one).replace('</channel></rss>', end))).toEqual({
      ok: true,
      title: 'Blog',
      text: end === '' ? 'One' : 'One\n\nTwo',
      warnings: [{ code: 'entries_left_out', count: 1 }],
    });
  });

  it.each([
    [
      'levels of one item',
      rss(`${one}<item><description>${'&lt;i&gt;'.repeat(2000)}x</description></item>`),
      1,
    ],
    ['items that are none', json([null, { title: 'One' }, 'x', { title: 7, content_text: null }]), 2],
  ])('is read without %s, with a warning', async (_what, source, count) => {
    expect(await readIt('feed', source)).toEqual({
      ok: true,
      title: 'Blog',
      text: 'One',
      warnings: [{ code: 'entries_left_out', count }],
    });
  });
});

describe('feed that declares entities', () => {
  const lol = Array.from(
    { length: 9 },
    (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`,
  ).join('');
  const laughs = `<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY l0 "lol">${lol}]>`;
  const hidden = '<!DOCTYPE rss [<!ENTITY l9 "BOOM">]>';
  const documentAfter = (prolog: string) =>
    `${prolog}${rss('<item><title>a &l9; b</title></item>').replace(/^<\?xml.*\n/, '')}`;

  it.each([
    ['a billion laughs', laughs],
    ['a file', '<!DOCTYPE rss [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>'],
    ['a URL', '<!DOCTYPE rss [<!ENTITY l9 SYSTEM "https://127.0.0.1:1/">]>'],
    ['a parameter', '<!DOCTYPE rss [<!ENTITY % p SYSTEM "https://127.0.0.1:1/x.dtd"> %p;]>'],
    ['a document type elsewhere', '<!DOCTYPE rss SYSTEM "https://127.0.0.1:1/x.dtd">'],
    ['a declaration in lower case', '<!doctype rss [<!entity l9 "x">]>'],
    ['a declaration after a comment', `<!-- <![CDATA[ -->${hidden}`],
    ['a declaration after a processing instruction', `<?x <!-- ?>${hidden}<?x --> ?>`],
    ['a declaration between attributes', `<a b="<!--" />${hidden}<a b="-->" />`],
    ['a declaration in a malformed tag', `< "<!-- ">${hidden}< "-->">`],
  ])('is read, and the entity stays as it is written: %s', async (_what, prolog) => {
    expect(await textIn('feed', documentAfter(prolog))).toBe('a &l9; b');
  });

  it('is not expanded, for any markup', async () => {
    const pieces = [
      '<?x ',
      '?>',
      '<!--',
      '-->',
      '"',
      "'",
      '<a b=',
      '<',
      '>',
      '/>',
      '<![CDATA[',
      ']]>',
      hidden,
      'x',
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), async (prolog) => {
        expect(await textIn('feed', documentAfter(prolog.join('')))).not.toContain('BOOM');
      }),
      { numRuns: casesOf(300, 2000) },
    );
  });

  it('is different from one with a page in a CDATA section', async () => {
    const page = '<![CDATA[<!DOCTYPE html><html><body><p>One</p></body></html>]]>';
    expect(await textIn('feed', rss(`<item><description>${page}</description></item>`))).toBe('One');
  });
});

describe('feed beyond the limits', () => {
  it.each([
    ['levels', rss('<a>'.repeat(100_000)), 'the feed is nested too deeply'],
    ['a tag without an end', `<a ${'x'.repeat(9_000_000)}`, 'the content is not a valid feed'],
    ['quotation marks without an end', `<a ${'""'.repeat(4_000_000)}`, 'the content is not a valid feed'],
    ['a quotation without an end', `<a b="${'x'.repeat(9_000_000)}`, 'the content is not a valid feed'],
    ['a long tag', `<a ${'x '.repeat(4_000_000)}><b c="<"/>`, 'the content is not a valid feed'],
    [
      'levels in an item',
      rss(`<item><description><![CDATA[${'<div>'.repeat(100_000)}]]></description></item>`),
      'the feed is nested too deeply',
    ],
    [
      'text',
      rss(`<item><description>${'word '.repeat(250_000)}</description></item>`),
      'the text is larger than 1 MB',
    ],
    [
      'one word',
      rss(`<item><description>${'x'.repeat(4_000_000)}</description></item>`),
      'the text is larger than 1 MB',
    ],
    [
      'levels of JSON',
      `{"version":"https://jsonfeed.org/version/1","items":${'['.repeat(1_000_000)}`,
      'the content is not a valid feed',
    ],
  ])('in its %s is rejected', async (_what, source, problem) => {
    expect(await readIt('feed', source)).toEqual({ ok: false, problem });
  });
});
