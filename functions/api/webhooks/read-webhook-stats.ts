import { buildEndpointStats, getLatestHours } from '../../domain/ledger.ts';
import { notFound } from '../../domain/problem.ts';
import { readEnvironment, StatsEnvironment } from '../../platform/config.ts';
import { keepFinishedHours } from '../../platform/finished-hours.ts';
import { success } from '../../platform/reply.ts';
import { reportUnreadable } from '../../platform/reports.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { ledgerStore } from '../../store/ledger.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const environment = readEnvironment(StatsEnvironment);
const endpoints = endpointStore(tables.service);
const ledger = ledgerStore({
  client: tables.service.client,
  name: environment.LEDGER_TABLE,
  reportUnreadable,
});
const readHours = keepFinishedHours(ledger.read);

/** Reads the endpoint first, to check its organization. */
export const handler = routeHandler(routes.readWebhookStats, async ({ tenant, params, query, now }) => {
  const found = await endpoints.find(tenant.orgId, params.id);
  if (!found) return notFound('webhook endpoint');
  const entries = await readHours(found.id, tenant.generation, getLatestHours(now, query.hours), now);
  return success(buildEndpointStats(found.id, { now, count: query.hours }, entries));
});
