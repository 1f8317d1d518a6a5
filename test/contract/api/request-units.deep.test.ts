import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RouteKey, routes } from '../../../functions/api/routes.ts';
import { computeTokens } from '../../../functions/http/rate-limit.ts';
import { OPERATIONS } from '../../../lib/openapi/operations.ts';
import { aKeyring } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { type Api, anApi } from '../store/an-api.ts';
import { worstCases } from './worst-cases.ts';

/*
 * The text of each route (lib/openapi/texts) states the most that a request consumes. Here each worst case
 * runs on tables with as many items as possible.
 */

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/reference/limits.md'), 'utf8');

/** What the page says about a filtered page, which is not in the routes' table. */
const [, filteredReads, filteredWrites, filteredTokens] =
  /with a filter takes (\d+) read units and (\d+) write units at most, which are (\d+) tokens/
    .exec(PAGE)
    ?.map(Number) ?? [];

const engine = dynamoDb();
let api: Api;
let cases: Awaited<ReturnType<typeof worstCases>>;

beforeAll(async () => {
  const tables = await engine.createdTables();
  api = await anApi(engine, tables, aKeyring());
  cases = await worstCases(tables, api);
}, 120_000);
afterAll(() => api?.close());

describe('the stated units of a route', () => {
  it('are tokens as on the page of limits', () => {
    expect(computeTokens({ reads: filteredReads ?? 0, writes: filteredWrites ?? 0 })).toBe(filteredTokens);
  });

  // Resets, deletions and ends come last: they delete items that other routes need.
  const LAST: RouteKey[] = [
    'stopRedelivery',
    'deleteSource',
    'deleteWebhook',
    'deleteChannel',
    'resetSandbox',
  ];
  const order = (Object.keys(routes) as RouteKey[]).toSorted((a, b) => LAST.indexOf(a) - LAST.indexOf(b));

  it.each(order)('cover the worst case of %s', async (route) => {
    const { path } = routes[route];
    expectWithin(OPERATIONS[route].atMost, await cases.consumedBy(route, path.startsWith('/settings')));
    if (route === 'listDeliveries')
      expectWithin(
        { reads: filteredReads ?? 0, writes: filteredWrites ?? 0 },
        await cases.consumedBy(route, false, cases.filtered),
      );
  });
});

interface Units {
  reads: number;
  writes: number;
}

/**
 * The stated units are at most half as many again as measured, so that they stay true: identifiers fall on
 * shards at random.
 */
function expectWithin(stated: Units, measured: Units): void {
  for (const unit of ['reads', 'writes'] as const) {
    expect(measured[unit], `${unit}, ${JSON.stringify(measured)}`).toBeLessThanOrEqual(stated[unit]);
    expect(stated[unit], `${unit}, ${JSON.stringify(measured)}`).toBeLessThanOrEqual(
      1.5 * measured[unit] + 3,
    );
  }
}
