import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RouteKey, routes } from '../../../functions/api/routes.ts';
import { computeTokens } from '../../../functions/http/rate-limit.ts';
import type { OperationText } from '../../../lib/openapi/operation-text.ts';
import { OPERATIONS } from '../../../lib/openapi/operations.ts';
import { aKeyring } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { type Api, anApi } from '../store/api-handlers.ts';
import { worstCases } from './worst-cases.ts';

/*
 * The text of each route (lib/openapi/texts) states the most tokens that a request costs. Here each worst
 * case runs on tables with as many items as possible.
 */

/** A page of a list with a filter. */
const FILTERED = { reads: 940, writes: 4 };

const engine = dynamoDb();
let api: Api;
let cases: Awaited<ReturnType<typeof worstCases>>;

beforeAll(async () => {
  const tables = await engine.createdTables();
  api = await anApi(engine, tables, aKeyring());
  cases = await worstCases(tables, api);
}, 120_000 * PATIENCE);
afterAll(() => api?.close());

describe('the stated units of a route', () => {
  it('are tokens as on the page of limits', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/limits.md'), 'utf8');
    expect(page).toContain(`with a filter costs ${computeTokens(FILTERED)} tokens at most`);
  });

  // Resets, deletions and ends come last: they delete items that other routes need.
  const LAST: RouteKey[] = [
    'stopRedelivery',
    'stopChannelRedelivery',
    'deleteSource',
    'deleteWebhook',
    'deleteChannel',
    'resetSandbox',
  ];
  const order = (Object.keys(routes) as RouteKey[]).toSorted((a, b) => LAST.indexOf(a) - LAST.indexOf(b));

  it.each(order)('cover the worst case of %s', async (route) => {
    const { path } = routes[route];
    const { mostTokens = 1 }: OperationText = OPERATIONS[route];
    const measured = await cases.consumedBy(route, path.startsWith('/settings'));
    expect(computeTokens(measured)).toBeLessThanOrEqual(mostTokens);
    expect(mostTokens).toBeLessThanOrEqual(computeTokens(largestStated(measured)));
    if (route !== 'listDeliveries') return;
    const filtered = await cases.consumedBy(route, false, cases.filtered);
    expect(computeTokens(filtered)).toBeLessThanOrEqual(computeTokens(FILTERED));
    expect(computeTokens(FILTERED)).toBeLessThanOrEqual(computeTokens(largestStated(filtered)));
  });
});

/**
 * The stated units are at most half as many again as measured, so that they stay true: identifiers fall on
 * shards at random.
 */
const largestStated = ({ reads, writes }: { reads: number; writes: number }) => ({
  reads: 1.5 * reads + 3,
  writes: 1.5 * writes + 3,
});
