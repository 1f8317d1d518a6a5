import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RouteKey, routes } from '../../../functions/api/routes.ts';
import { tokensFor } from '../../../functions/domain/rate-limit.ts';
import { aKeyring } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { type Api, anApi } from '../store/an-api.ts';
import { worstCases } from './worst-cases.ts';

/*
 * docs/limits.md says what a request of each route consumes at most. Here each of them is made, on tables that hold as much as there can be.
 */

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/limits.md'), 'utf8');
const FILTERED = 'list-deliveries, filtered';

/** The rows of the page's table: units and tokens by the names of routes. */
const COLUMNS = new Map(
  [...PAGE.matchAll(/^\| `([\w-]+)`(, filtered)? \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$/gm)].map(
    ([, name, suffix = '', ...figures]) => {
      const [reads = 0, writes = 0, tokens = 0] = figures.map((figure) => Number(figure.replaceAll(',', '')));
      return [`${name}${suffix}`, { reads, writes, tokens }] as const;
    },
  ),
);

const engine = dynamoDb();
let api: Api;
let cases: Awaited<ReturnType<typeof worstCases>>;

beforeAll(async () => {
  const tables = await engine.tables();
  api = await anApi(engine, tables, aKeyring());
  cases = await worstCases(tables, api);
}, 120_000);
afterAll(() => api?.close());

describe('the limits page', () => {
  it('has a row for each route, and no other', () => {
    const names = Object.values(routes).map(({ name }) => name);
    expect([...COLUMNS.keys()].toSorted()).toEqual([...names, FILTERED].toSorted());
  });

  it.each([...COLUMNS])('says the tokens of %s by its units', (_, { tokens, ...units }) => {
    expect(tokens).toBe(tokensFor(units));
  });

  // Resets, deletions and ends come last: what they take away is another route's case.
  const LAST: RouteKey[] = [
    'stopRedelivery',
    'deleteSource',
    'deleteWebhook',
    'deleteChannel',
    'resetSandbox',
  ];
  const order = (Object.keys(routes) as RouteKey[]).toSorted((a, b) => LAST.indexOf(a) - LAST.indexOf(b));

  it.each(order)('says what the worst case of %s consumes', async (route) => {
    const { name, path } = routes[route];
    expectWithin(name, await cases.consumedBy(route, path.startsWith('/settings')));
    if (route === 'listDeliveries')
      expectWithin(FILTERED, await cases.consumedBy(route, false, cases.filtered));
  });
});

/** The figure is not exceeded, and at most half as large again as what was measured, so that it stays true: identifiers fall on shards at random. */
function expectWithin(name: string, measured: { reads: number; writes: number }): void {
  const row = COLUMNS.get(name);
  for (const unit of ['reads', 'writes'] as const) {
    const stated = row?.[unit] ?? 0;
    expect(measured[unit], `${name}: ${unit}, ${JSON.stringify(measured)}`).toBeLessThanOrEqual(stated);
    expect(stated, `${name}: ${unit}, ${JSON.stringify(measured)}`).toBeLessThanOrEqual(
      1.5 * measured[unit] + 3,
    );
  }
}
