import { describe, expect, it } from 'vitest';
import { readIt, textIn } from './contents.ts';

const sentence = 'This service answers, resolves and hands over conversations, for any caller. ';

describe('text of a page', () => {
  it.each([
    [
      'a whole page',
      '<!doctype html><html><head></head><body><p>one</p><p>two</p></body></html>',
      'one\n\ntwo',
    ],
    ['a page without html and body', '<!doctype html><title>T</title><p>one<p>two', 'one\n\ntwo'],
    ['a piece of a page', 'one <b>two</b> three', 'one two three'],
    ['a line that is broken', 'one<br>two', 'one\n\ntwo'],
    ['a list', '<ul><li>one<li>two</ul>', 'one\n\ntwo'],
    ['a table', '<table><tr><th>a<th>b<tr><td>1<td>2</table>', 'a b\n\n1 2'],
    ['entities', '<p>a&nbsp;&amp;&lt;b&gt;&eacute;&#8364;&#x1F600;', 'a &<b>é€😀'],
    ['lines of the source', '<p>one\n   two\r\n\tthree', 'one two three'],
    ['a word that is marked up', '<p>un<b>believ</b>able', 'unbelievable'],
    ['scripts and styles', '<p>one<script>var a="<p>two"</script><style>p{}</style>', 'one'],
    ['hidden elements', '<p>one<p hidden>two<template><p>three</template><noscript>four</noscript>', 'one'],
    ['drawings and frames', '<p>one<svg><text>two</text></svg><iframe>three</iframe>', 'one'],
    ['a comment', '<p>one<!-- two -->', 'one'],
    [
      'a page with text before it',
      '<!doctype html><!-- x --><p>one</p><html><body>two</body></html>three',
      'one\n\ntwo\n\nthree',
    ],
    ['a form', '<label>Name <input value=x></label><select><option>a</select><button>Send</button>', 'Name'],
    ['Chinese', '<p>世界<p>你好', '世界\n\n你好'],
    ['a page in upper case', '<HTML><BODY><P>one</P><SCRIPT>two</SCRIPT></BODY></HTML>', 'one'],
    ['tags that do not match', '<p>one</b></div><i>two', 'onetwo'],
    ['tags that do not end', '<p>one<', 'one<'],
  ])('of the form "%s" is extracted', async (_what, html, text) => {
    expect(await textIn('url', html)).toBe(text);
  });

  it('is that of its article, if there is one', async () => {
    const menu = '<nav><ul><li><a href=/>Home</a><li><a href=/about>About</a></ul></nav>';
    const html = `<!doctype html><html><head><title>How it works</title></head><body>${menu}<div id="sidebar" class="sidebar"><a href=#>Advertisement</a></div><article><h1>How it works</h1>${`<p>${sentence.repeat(4)}</p>`.repeat(6)}</article><footer class="footer">Imprint</footer></body></html>`;
    const extraction = await readIt('url', html);
    expect(extraction).toMatchObject({ ok: true, title: 'How it works' });
    const text = extraction.ok ? extraction.text : '';
    expect(text.split(sentence.trim())).toHaveLength(25);
    for (const other of ['Home', 'Advertisement', 'Imprint']) expect(text).not.toContain(other);
  });

  it('is independent of its scripts', async () => {
    const page = (script: string) =>
      `<html><head><script>${script}</script></head><body><article><p>${sentence.repeat(10)}</p></article></body></html>`;
    expect(await textIn('url', page('a(1)'))).toBe(await textIn('url', page('b("<div>".repeat(9))')));
  });

  it.each([
    ['', '! there is no text in the content'],
    ['<p> &nbsp; </p>', '! there is no text in the content'],
    ['<script>only()</script>', '! there is no text in the content'],
    ['<!doctype html><html></html>', '! there is no text in the content'],
    ['\u0000\u0007', '! there is no text in the content'],
  ])('is missing in %j', async (html, problem) => {
    expect(await textIn('url', html)).toBe(problem);
  });

  it('is the content of a plain text', async () => {
    expect(await readIt('url', '\r\n one <b>\r\n\r\n\r\n\r\ntwo\tthree  ', 'text/plain')).toEqual({
      ok: true,
      text: 'one <b>\n\ntwo three',
    });
  });
});

describe('title of a page', () => {
  it.each([
    ['<title>A  title\n with &amp;</title><p>x', 'A title with &'],
    ['<html><head><title>Whole</title></head><body>x</body></html>', 'Whole'],
    [`<title>${'long '.repeat(200)}</title><p>x`, 'long '.repeat(60).trim()],
    [`<title>${'😀'.repeat(400)}</title><p>x`, '😀'.repeat(150)],
    ['<title> </title><p>x', undefined],
    ['<p>x', undefined],
  ])('is extracted from %j', async (html, title) => {
    const extraction = await readIt('url', html);
    expect(extraction.ok && extraction.title).toBe(title);
  });
});

describe('page at the limits', () => {
  it.each([
    ['a hundred thousand levels', '<div>'.repeat(100_000), 'the page is nested too deeply'],
    ['a million elements', '<br>'.repeat(1_000_000), 'the page has more than 200000 elements'],
    ['more than a megabyte of text', `<p>${'word '.repeat(300_000)}`, 'the text is larger than 1 MB'],
  ])('is rejected with %s', async (_what, html, problem) => {
    expect(await readIt('url', html)).toEqual({ ok: false, problem });
  });

  it('is read in full when it is too deep for the article search', async () => {
    const html = `${'<div>'.repeat(900)}deep${'</div>'.repeat(900)}`;
    expect(await textIn('url', html)).toBe('deep');
  });

  it('may have the maximum size of text', async () => {
    const text = 'x'.repeat(1_000_000);
    expect(await textIn('url', text, 'text/plain')).toBe(text);
    expect(await textIn('url', `${text}x`, 'text/plain')).toBe('! the text is larger than 1 MB');
    expect(await textIn('url', `${'é'.repeat(500_000)}x`, 'text/plain')).toBe(
      '! the text is larger than 1 MB',
    );
  });
});
