import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeFilters } from '../../../functions/api/deliveries.ts';
import { ListDeliveriesQuery, PageQuery } from '../../../functions/api/fields.ts';
import { fitIntoPage } from '../../../functions/api/pages.ts';
import { routes } from '../../../functions/api/routes.ts';
import { DeliveryStatus } from '../../../functions/delivery/delivery.ts';
import { EventTypeName } from '../../../functions/events/events.ts';
import { success } from '../../../functions/http/reply.ts';
import type { Route } from '../../../functions/http/route.ts';
import { currentDocument, dashboardDocument } from '../../../lib/openapi/current.ts';
import { aRequest, envelope, send, thingRoute } from '../http/call.ts';
import { inMemory } from '../http/in-memory.ts';

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

const paths = { ...currentDocument().paths, ...dashboardDocument().paths };

/** The listings of the API, each with the item of its example. */
const listings = Object.values<Route>(routes).flatMap((route) => {
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

describe('the limit parameter of a list', () => {
  const listRoute = {
    ...thingRoute,
    method: 'GET',
    idempotency: undefined,
    body: undefined,
    query: PageQuery,
  } as const satisfies Route;

  async function limitOf(limit: string | undefined) {
    const service = inMemory();
    const seen: unknown[] = [];
    const queryStringParameters = limit === undefined ? null : { limit };
    const answer = await send(
      listRoute,
      service,
      aRequest(service, { queryStringParameters }),
      async ({ query }) => {
        seen.push(query.limit);
        return success({ name: 'x' });
      },
    );
    return { ...answer, limit: seen[0] };
  }

  it.each([
    [undefined, 20],
    ['', 20],
    ['1', 1],
    ['20', 20],
    ['100', 100],
    ['101', 100],
    ['0', 1],
    ['-0', 1],
    ['-5', 1],
    ['+7', 7],
    ['007', 7],
    ['9'.repeat(30), 100],
    ['9'.repeat(400), 100],
    [`-${'9'.repeat(400)}`, 1],
  ])('given as %j is %i', async (given, limit) => {
    expect(await limitOf(given)).toMatchObject({ status: 201, limit });
  });

  it.each([
    '20.5',
    '1e3',
    'twenty',
    ' 5',
    '5 ',
    '5\n',
    '0x10',
    'NaN',
    'Infinity',
    '-',
    '+',
    '--5',
    '1,0',
    '٣',
    'null',
  ])('is refused when it is %j', async (given) => {
    const { status, body, limit } = await limitOf(given);
    expect(status).toBe(400);
    expect(body).toEqual(envelope('VALIDATION_ERROR', 'limit must be an integer.'));
    expect(limit).toBeUndefined();
  });
});

const query = (given: Record<string, string>) => ListDeliveriesQuery.safeParse(given);
const someNames = (names: readonly string[]) => fc.subarray([...names], { minLength: 1 });

describe('delivery filters', () => {
  it('are lists of names, in any order, repeated or not', () => {
    fc.assert(
      fc.property(
        someNames(DeliveryStatus.options),
        someNames(EventTypeName.options),
        (status, eventType) => {
          const given = {
            status: [...status, ...status].reverse().join(','),
            eventType: eventType.join(','),
          };
          const { data } = query(given);
          expect(new Set(data?.status)).toEqual(new Set(status));
          expect(data?.status).toHaveLength(status.length);
          expect(new Set(data?.eventType)).toEqual(new Set(eventType));
        },
      ),
    );
  });

  it.each([
    '',
    ',',
    'failed',
    'exhausted,',
    ',exhausted',
    'exhausted, skipped',
    'EXHAUSTED',
    'exhausted;skipped',
  ])('reject the status %j', (status) => {
    const { error } = query({ status });
    expect(error?.issues[0]?.message).toMatch(/^must be a comma-separated list of values from pending, /);
  });

  it.each(['ticketxcreated', 'ticket', '__proto__'])('reject the event type %j', (eventType) => {
    expect(query({ eventType }).success).toBe(false);
  });

  it.each([
    ['2026-11-20T09:30:00Z', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20T09:30:00.123456Z', '2026-11-20T09:30:00.123Z'],
    ['2026-11-20T09:30:00+00:00', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20T09:30:00-05:30', '2026-11-20T15:00:00.000Z'],
  ])('accept the time %s', (from, utc) => {
    expect(query({ from }).data?.from).toEqual(new Date(utc));
  });

  it.each([
    '',
    '0',
    '2026-11-20',
    '2026-11-20T09:30:00',
    '2026-11-20T09:30:00+25:00',
    '2026-02-30T00:00:00Z',
  ])('reject the time %j', (from) => {
    expect(query({ from }).error?.issues[0]?.message).toMatch(/^must be a time such as/);
  });

  it('replace a time before 1970, which no id can have, by the first one', () => {
    expect(query({ from: '0001-01-01T00:00:00Z' }).data?.from).toEqual(new Date(0));
  });
});

describe('cursor of a delivery list', () => {
  const bound = (given: Readonly<Record<string, string | undefined>>) =>
    describeFilters(ListDeliveriesQuery.parse(given));

  it('is bound to nothing more without filters, so that older cursors stay valid', () => {
    for (const given of [{}, { limit: '5' }, { include: 'request' }]) expect(bound(given)).toEqual([]);
  });

  it('is bound to the filters, in any notation', () => {
    const written = bound({ status: 'exhausted,skipped', from: '2026-11-20T09:30:00Z' });
    expect(bound({ status: 'skipped,exhausted,skipped', from: '2026-11-20T09:30:00.000Z' })).toEqual(written);
  });

  it('differs for each other filter', () => {
    const all = [
      {},
      { status: 'exhausted' },
      { status: 'exhausted,skipped' },
      { eventType: 'ticket.created' },
      { from: '2026-11-20T09:30:00Z' },
      { to: '2026-11-20T09:30:00Z' },
      { from: '2026-11-20T09:30:00Z', to: '2026-11-20T10:30:00Z' },
      { status: 'exhausted', from: '2026-11-20T09:30:00Z' },
    ].map((given) => JSON.stringify(bound(given)));
    expect(new Set(all).size).toBe(all.length);
  });
});
