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
  ])('decodes entities once per level: %s', async (_what, source, text) => {
    expect(await textIn('feed', source)).toBe(text);
  });

  it.each([
    ['no items', rss('')],
    ['empty items', rss('<item><title> </title><description/></item>')],
  ])('is missing in one with %s', async (_what, source) => {
    expect(await textIn('feed', source)).toMatch(
      /^! (there is no text in the content|the content is not a valid feed)$/,
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
    ['nothing but a start', '<?xml'],
  ])('rejects content that is no feed: %s', async (_what, source) => {
    expect(await textIn('feed', source)).toMatch(
      /^! (the content is not a valid feed|there is no text in the content)$/,
    );
  });
});

describe('feed that declares entities', () => {
  const lol = Array.from(
    { length: 9 },
    (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`,
  ).join('');
  const laughs = `<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY l0 "lol">${lol}]>`;

  it.each([
    ['a billion laughs', laughs],
    ['a file', '<!DOCTYPE rss [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>'],
    ['a URL', '<!DOCTYPE rss [<!ENTITY l9 SYSTEM "https://127.0.0.1:1/">]>'],
    ['a parameter', '<!DOCTYPE rss [<!ENTITY % p SYSTEM "https://127.0.0.1:1/x.dtd"> %p;]>'],
    ['a document type elsewhere', '<!DOCTYPE rss SYSTEM "https://127.0.0.1:1/x.dtd">'],
    ['a declaration in lower case', '<!doctype rss [<!entity l9 "x">]>'],
    ['a declaration after a comment', '<!-- --><!DOCTYPE rss [<!ENTITY l9 "x">]>'],
    [
      'a declaration after a comment with an open section',
      '<!-- <![CDATA[ --><!DOCTYPE rss [<!ENTITY l9 "x">]>',
    ],
  ])('is rejected: %s', async (_what, prolog) => {
    const source = `${prolog}${rss('<item><title>&l9;</title></item>').replace(/^<\?xml.*\n/, '')}`;
    expect(await textIn('feed', source)).toBe('! the feed declares entities');
  });

  const hidden = '<!DOCTYPE rss [<!ENTITY l9 "BOOM">]>';
  it.each([
    ['a processing instruction', `<?x <!-- ?>${hidden}<?x --> ?>`],
    ['a quoted processing instruction', `<?x "?><!-- " ?>${hidden}<?x --> ?>`],
    ['a section in a processing instruction', `<?x <![CDATA[ ?>${hidden}<?x ]]> ?>`],
    ['an attribute', `<a b="<!--" />${hidden}<a b="-->" />`],
    ['a malformed tag', `< "<!-- ">${hidden}< "-->">`],
    ['a comment without an end', `<!-- ${hidden}`],
  ])('is rejected even when its declaration is hidden: %s', async (_what, prolog) => {
    const source = `${prolog}${rss('<item><title>&l9;</title></item>').replace(/^<\?xml.*\n/, '')}`;
    expect(await textIn('feed', source)).toMatch(
      /^! the (feed declares entities|content is not a valid feed)$/,
    );
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
        const source = `${prolog.join('')}${rss('<item><title>&l9;</title></item>').replace(/^<\?xml.*\n/, '')}`;
        expect(await textIn('feed', source)).not.toContain('BOOM');
      }),
      { numRuns: casesOf(300, 2000) },
    );
  });

  it('is different from one with a page in a CDATA section, which is accepted', async () => {
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
      'levels of JSON',
      `{"version":"https://jsonfeed.org/version/1","items":${'['.repeat(1_000_000)}`,
      'the content is not a valid feed',
    ],
  ])('in its %s is rejected', async (_what, source, problem) => {
    expect(await readIt('feed', source)).toEqual({ ok: false, problem });
  });
});
