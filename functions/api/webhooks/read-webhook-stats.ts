import { buildEndpointStats, getLatestHours } from '../../domain/ledger.ts';
import { notFound } from '../../domain/problem.ts';
import { readEnvironment, StatsEnvironment } from '../../platform/config.ts';
import { keepFinishedHours } from '../../platform/finished-hours.ts';
import { success } from '../../platform/reply.ts';
import { openTables } from '../../platform/tables.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { ledgerStore } from '../../store/ledger.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const { ledger } = openTables(readEnvironment(StatsEnvironment), tables.service.client);
const endpoints = endpointStore(tables.service);
const readHours = keepFinishedHours(ledgerStore(ledger).read);

/** Reads the endpoint first, to check its organization. */
export const handler = routeHandler(routes.readWebhookStats, async ({ tenant, params, query, now }) => {
  const found = await endpoints.find(tenant.orgId, params.id);
  if (!found) return notFound('webhook endpoint');
  const entries = await readHours(found.id, tenant.generation, getLatestHours(now, query.hours), now);
  return success(buildEndpointStats(found.id, { now, count: query.hours }, entries));
});
