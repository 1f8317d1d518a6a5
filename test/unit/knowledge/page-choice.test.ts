import { describe, expect, it } from 'vitest';
import { computeDifference } from '../../../functions/knowledge/difference.ts';
import { readPage } from '../../../functions/knowledge/html.ts';

const repeat = (count: number, part: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => part(n)).join('');

const page = (...body: string[]): string =>
  `<!doctype html><html><head><title>Shop</title></head><body>${body.join('')}</body></html>`;

const about = repeat(
  3,
  (n) =>
    `<p>For ${n + 20} years our family has baked bread, rolls and cakes, with flour from the region, and with a lot of time for each dough.</p>`,
);
const priceTable = `<table>${repeat(90, (n) => `<tr><td>Bread ${n}<td>${n}.40 EUR</tr>`)}</table>`;
const cards = repeat(
  80,
  (n) =>
    `<div class="product"><a href="/p/${n}"><h3>Basket ${n}</h3></a><span>${n}.90 EUR</span> <a href="/buy/${n}">Buy</a></div>`,
);
const linkedCards = repeat(
  24,
  (n) => `<li class="card"><a href="/p/${n}"><b>Basket ${n}</b> <span>woven, ${n}.90 EUR</span></a></li>`,
);
const hours = `<dl>${repeat(40, (n) => `<dt>Branch ${n}<dd>Mon to Fri ${(n % 4) + 6}:00 to 18:30`)}</dl>`;
const article = repeat(
  12,
  (n) =>
    `<p>Paragraph ${n} of this report tells how a bakery in the valley changed its oven, what that cost, and why the neighbours came to look.</p>`,
);
const menu = `<ul class="m">${repeat(30, (n) => `<li><a href="/${n}">Menu entry ${n}</a>`)}</ul>`;

const cookies = {
  'without a label':
    '<div class="l1"><p>We use cookies, so that this page works, and so that we can count its visitors, on all of your devices.</p><p>By going on you accept this, as our privacy notice says, which you can open at any time.</p></div>',
  'with a label':
    '<section id="consentLayer"><h2>Your choice</h2><p>We and 212 partners store data on your device, and read it, to show what could interest you.</p><button>Fine</button></section>',
  'in a dialog':
    '<div role="dialog"><p>Wir verwenden Cookies, um die Nutzung zu messen, und um Werbung zu zeigen, die zu Ihnen passt.</p><p>Mit Ihrem Klick stimmen Sie zu, und können das jederzeit ändern.</p></div>',
};
const teaser = (n: number) =>
  `<h3>Another page ${n}</h3><p>What it is about in a few words, with a comma or two, and with number ${n} at its end.</p>`;
const teasers = {
  'with a label': `<div class="b">${repeat(8, (n) => `<div class="teaser-box">${teaser(n)}</div>`)}</div>`,
  'in an aside': `<aside>${repeat(8, (n) => `<div>${teaser(n)}</div>`)}</aside>`,
  'of links only': `<div class="c3">${repeat(8, (n) => `<div><a href="/t${n}">${teaser(n)}</a></div>`)}</div>`,
};

describe('part of a page that is read', () => {
  it.each([
    ['a table of prices', priceTable, ['Bread 0 0.40 EUR', 'Bread 89 89.40 EUR']],
    ['cards of products', cards, ['Basket 0', '0.90 EUR', '79.90 EUR']],
    ['cards that are links', `<ul>${linkedCards}</ul>`, ['Basket 0 woven, 0.90 EUR', '23.90 EUR']],
    ['opening hours', hours, ['Branch 0', 'Mon to Fri 6:00', 'Branch 39', 'Mon to Fri 9:00']],
  ])('includes %s beside paragraphs about the firm', (_what, part, pieces) => {
    const { text } = readPage(page(`<div class="x">${part}</div><div class="about">${about}</div>`));
    const line = text.replace(/\s+/g, ' ');
    for (const piece of pieces) expect(line).toContain(piece);
    expect(line).toContain('For 22 years');
  });

  it.each([
    ['a price table', 'sidebar', priceTable],
    ['opening hours', 'footer-info', hours],
    ['all products', 'related-products', cards],
  ])('includes %s with a misleading label', (_what, label, part) => {
    const { text } = readPage(page(`<div><p>Welcome.</p></div><div class="${label}">${part}</div>`));
    expect(text.split('\n').length).toBeGreaterThan(24);
  });

  it('includes both columns of a table for layout', () => {
    const column = repeat(24, (n) => `<div>Verse ${n}</div>`);
    const html = page(`<table><tr><td>${about}<td>${column}</table>`);
    expect(readPage(html).text).toContain('Verse 23');
  });

  it('includes a chapter whose id is made of its heading', () => {
    const chapter = (id: string) => `<div id="${id}"><h2>Chapter ${id}</h2>${about}</div>`;
    const { text } = readPage(
      page(chapter('sharing-with-a-friend'), chapter('oven'), chapter('related-and-other-breads')),
    );
    expect(text.match(/Chapter/g)).toHaveLength(3);
  });

  it.each([
    ['a menu of links', menu],
    ['a navigation', '<nav>Menu entry without a link</nav>'],
    ['a footer', '<div id="page-footer"><p>Menu entry, imprint</p></div>'],
  ])('excludes %s', (_what, part) => {
    for (const body of [`${part}<article>${article}</article>`, `${part}${priceTable}`])
      expect(readPage(page(body)).text).not.toContain('Menu entry');
  });

  it('is the whole page when it has navigation only', () => {
    expect(readPage(page(menu)).text).toContain('Menu entry 29');
    expect(readPage(page('<nav><a href="/">Menu entry</a></nav>')).text).toBe('Menu entry');
  });
});

const pages = {
  'a price list': `<h1>Prices</h1>${priceTable}`,
  'cards of products': `<h1>Baskets</h1><div class="list">${cards}</div>`,
  'opening hours': `<h1>Branches</h1>${hours}`,
  'an article': `<div class="a"><h1>Report</h1>${article}</div>`,
};

describe('text of a page stays the same with', () => {
  const additions = [
    ...Object.entries(cookies).map(([kind, part]) => [`a notice of consent ${kind}`, part] as const),
    ...Object.entries(teasers).map(([kind, part]) => [`a box of eight teasers ${kind}`, part] as const),
  ];
  it.each(
    additions.flatMap(([what, addition]) =>
      Object.entries(pages).map(([name, body]) => [what, name, body, addition] as const),
    ),
  )('%s on %s', (_what, _name, body, addition) => {
    const before = readPage(page(body));
    for (const after of [page(body, addition), page(addition, body)]) {
      expect(computeDifference(before.text, readPage(after).text)).toBeLessThanOrEqual(20);
      expect(computeDifference(before.text, readPage(after, before.choice).text)).toBeLessThanOrEqual(20);
    }
  });
});

describe('choice of a page', () => {
  const news = `<div class="news">${repeat(10, (n) => `<p>News ${n}: from Monday on there is a new loaf in all of our branches, dark, and with whole walnuts in it.</p>`)}</div>`;
  const main = `<div class="report">${article}</div>`;

  it('is kept when another part grows, and dropped when its part is gone', () => {
    const { choice, text } = readPage(page(main));
    const grown = page(main, news);
    expect(readPage(grown).text).toContain('News 9');
    expect(readPage(grown, choice)).toMatchObject({ choice, text });
    expect(readPage(page(news), choice).text).toContain('News 9');
  });

  it('is dropped when its part has become a small part of the page', () => {
    const { choice } = readPage(page(main));
    const small = page('<div class="report"><p>The report has moved.</p></div>', news);
    expect(readPage(small, choice).text).toContain('News 9');
  });

  it('keeps lists of links that were read, and those that were left out', () => {
    const list = `<ul>${repeat(24, (n) => `<li><a href="/p/${n}">Basket ${n}, woven by hand</a>`)}</ul>`;
    const wide = `<div>${repeat(14, (n) => `<p>Remark ${n} on baskets, which are woven by hand, of willow, in winter, and dried.</p>`)}</div>`;
    const withList = readPage(page(`<p>Our baskets.</p>`, list));
    expect(withList.text).toContain('Basket 23');
    expect(readPage(page('<p>Our baskets.</p>', list, wide)).text).not.toContain('Basket 23');
    expect(readPage(page('<p>Our baskets.</p>', list, wide), withList.choice).text).toContain('Basket 23');
  });

  it('is ASCII of at most 200 characters, and any other value is ignored', () => {
    const label = 'é\u0000 long-name'.repeat(40);
    const { choice, text } = readPage(page(`<div class="${label}">${article}</div>`));
    expect(choice).toMatch(/^[\x20-\x7e]{1,200}$/);
    expect(readPage(page(`<div class="${label}">${article}</div>`), 'nothing like it').text).toBe(text);
  });
});

describe('shape of a page is measured without', () => {
  it.each([
    ['scripts', `<script>${repeat(1200, (n) => `if(a<b${n})c();`)}</script>`],
    ['comments', `<!--${'<div>'.repeat(1200)}-->`],
    ['styles', `<style>/* ${'<div>'.repeat(1200)} */</style>`],
    ['attributes', `<p title="${'<div>'.repeat(1200)}"></p>`],
  ])('%s', (_what, part) => {
    const { text } = readPage(page(part, menu, `<article>${article}</article>`));
    expect(text).toContain('Paragraph 11');
    expect(text).not.toContain('Menu entry');
  });

  it.each([
    ['160', 160],
    ['900', 900],
  ])('effect on the choice at %s levels', (_what, depth) => {
    const deep = (body: string) => `${'<div>'.repeat(depth)}${body}${'</div>'.repeat(depth)}`;
    const { text } = readPage(page(deep(`${menu}<article>${article}</article>`)));
    expect(text).toBe(readPage(page(`<article>${article}</article>`)).text);
  });

  it.each([
    ['html', `<head><title>Shop</title></head><body>${menu}<article>${article}</article></body>`],
    ['html and head', `<title>Shop</title><body>${menu}<article>${article}</article>`],
    ['html, head and body', `<!doctype html><title>Shop</title>${menu}<article>${article}</article>`],
  ])('a difference without the tags %s', (_what, html) => {
    expect(readPage(html)).toEqual(readPage(page(menu, `<article>${article}</article>`)));
  });

  it('paragraphs and items that end without an end tag', () => {
    const { text } = readPage(page(`<p>${'one<p>'.repeat(2000)}`, `<ul>${'<li>two'.repeat(2000)}</ul>`));
    expect(text).toContain('two');
  });
});
