import { describe, expect, it } from 'vitest';
import { fitIntoPage } from '../../../functions/api/pages.ts';
import { routes } from '../../../functions/api/routes.ts';
import type { Route } from '../../../functions/http/route.ts';
import { currentDocument } from '../../../lib/openapi/current.ts';

/**
 * Lambda's limit for a response, a proxy result with the body as a JSON string (Lambda quotas, invocation
 * payload: 6 MB).
 */
const LAMBDA_BYTES = 6_000_000;
/** Lambda's limit minus what quoting adds to a body that is all quotation marks. */
const MOST_BYTES = 2_000_000;
/** As long as the items are, these are several pages. */
const ITEMS = 30;

type Item = Record<string, unknown> & { id: string };
const answerOf = (data: unknown) => JSON.stringify({ statusCode: 200, body: JSON.stringify({ data }) });

/** The listings of the API, each with the item of its example. */
const listings = Object.values<Route>(routes).flatMap((route) => {
  const { paths } = Object(currentDocument());
  const operation = Object(paths)[`/api${route.path}`]?.[route.method.toLowerCase()];
  const { example, examples = {} } = operation?.responses['200']?.content?.['application/json'] ?? {};
  const shown = example ?? Object(Object.values(examples)[0]).value ?? {};
  return 'nextCursor' in shown ? [[route.name, route, shown.data[0] as Item] as const] : [];
});

/** Items of a listing, with texts as long as the route permits, or long enough to matter. */
function longest(route: Route, item: Item): Item[] {
  const long = '"'.repeat(100_000);
  const longer = Object.keys(item)
    .filter((name) => typeof item[name] === 'string' && name !== 'id')
    .map((name) => ({ ...item, [name]: long }))
    .find((candidate) => Object(route.success.data).safeParse([candidate]).success);
  return Array.from({ length: ITEMS }, (_, index) => ({ ...(longer ?? item), id: `${item.id}${index}` }));
}

describe('a page of a list', () => {
  it('belongs to a listing of the API', () => {
    expect(listings.map(([name]) => name)).toEqual(
      expect.arrayContaining(['list-messages', 'list-deliveries']),
    );
    expect(listings.length).toBeGreaterThanOrEqual(11);
  });

  it.each(listings)('ends before the response is too large: %s', (_, route, item) => {
    const all = longest(route, item);
    const shown = (one: Item) => one;

    const page = fitIntoPage(all, shown);

    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(MOST_BYTES + 2);
    expect(Buffer.byteLength(answerOf(page))).toBeLessThan(LAMBDA_BYTES);
    expect(page).toEqual(all.slice(0, page.length));
    const whole = Buffer.byteLength(JSON.stringify(all));
    if (whole <= MOST_BYTES) expect(page).toBe(all);
    else expect(page.length).toBe(9);
  });

  it('has at least one item, however large', () => {
    const items = [{ id: 'a', text: 'x'.repeat(3_000_000) }, { id: 'b' }];
    expect(fitIntoPage(items, (item) => item)).toEqual([items[0]]);
  });

  it('is measured by the returned items', () => {
    const items = Array.from({ length: 100 }, (_, index) => ({ id: `${index}`, kept: 'x'.repeat(100_000) }));
    expect(fitIntoPage(items, ({ id }) => ({ id }))).toBe(items);
  });
});
