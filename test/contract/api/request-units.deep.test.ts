import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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

type Units = readonly [reads: number, writes: number];

/**
 * DynamoDB units that a request consumes at most, where less than the tokens of its text is to be kept:
 * a token is 100 read units.
 */
const MOST: Readonly<Partial<Record<RouteKey, Units>>> = {
  registerWebhook: [90, 52],
  listWebhooks: [48, 3],
  readWebhook: [5, 3],
  updateWebhook: [6, 28],
  deleteWebhook: [4, 28],
  testWebhook: [5, 9],
  listDeliveries: [1780, 4],
  readDelivery: [20, 3],
  retryDelivery: [20, 250],
  redeliverDelivery: [20, 16],
  readDeliveryStats: [2000, 4],
  readWebhookStats: [20, 3],
  startRedelivery: [5, 20],
  listRedeliveries: [20, 3],
  readRedelivery: [5, 3],
  stopRedelivery: [4, 13],
  listEvents: [3000, 4],
  readEvent: [1870, 4],
  createConversation: [5, 195],
  listConversations: [1080, 4],
  readConversation: [16, 3],
  updateConversation: [16, 93],
  createMessage: [15, 1645],
  listMessages: [768, 4],
  readMessage: [80, 3],
  requestHandoff: [16, 126],
  listEscalations: [125, 3],
  readEscalation: [18, 3],
  resolveConversation: [16, 192],
  createChannel: [4, 32],
  listChannels: [45, 3],
  readChannel: [5, 3],
  deleteChannel: [4, 22],
  listChannelDeliveries: [1780, 4],
  readChannelDelivery: [20, 3],
  updateChannel: [8, 28],
  testChannel: [5, 9],
  readChannelStats: [20, 3],
  retryChannelDelivery: [20, 250],
  redeliverChannelDelivery: [20, 16],
  startChannelRedelivery: [5, 20],
  listChannelRedeliveries: [20, 3],
  readChannelRedelivery: [5, 3],
  stopChannelRedelivery: [4, 13],
  createVisitorToken: [5, 5],
  readWidgetMessages: [350, 4],
  createWidgetMessage: [4, 76],
  createTicket: [16, 208],
  listTickets: [1080, 4],
  readTicket: [16, 3],
  updateTicket: [16, 99],
  createSource: [4, 38],
  listSources: [180, 4],
  readSource: [6, 3],
  readSourceContent: [150, 4],
  readSourceChanges: [420, 4],
  deleteSource: [6, 30],
  syncSource: [6, 30],
  readSession: [2, 2],
  readOrganization: [2, 2],
  updateOrganization: [2, 6],
  readUsage: [8, 2],
  createApiKey: [1, 14],
  listApiKeys: [80, 2],
  revokeApiKey: [2, 8],
  listAuditLog: [300, 2],
  provisionSandbox: [3, 20],
  readSandbox: [4, 2],
  resetSandbox: [84, 410],
};
/** A page of a list with a filter. */
const FILTERED: Units = [840, 4];

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
    const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/limits.md'), 'utf8');
    const [reads, writes] = FILTERED;
    expect(page).toContain(`with a filter costs ${computeTokens({ reads, writes })} tokens at most`);
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
    const stated = MOST[route];
    if (stated !== undefined) {
      expect(computeTokens({ reads: stated[0], writes: stated[1] })).toBe(mostTokens);
      expectWithin(stated, measured);
    }
    if (route === 'listDeliveries')
      expectWithin(FILTERED, await cases.consumedBy(route, false, cases.filtered));
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

function expectWithin([reads, writes]: Units, measured: { reads: number; writes: number }): void {
  const stated = { reads, writes };
  const largest = largestStated(measured);
  for (const unit of ['reads', 'writes'] as const) {
    expect(measured[unit], `${unit}, ${JSON.stringify(measured)}`).toBeLessThanOrEqual(stated[unit]);
    expect(stated[unit], `${unit}, ${JSON.stringify(measured)}`).toBeLessThanOrEqual(largest[unit]);
  }
}
