import { getLatestHours, ledgerStore } from '../../delivery/ledger.ts';
import { buildEndpointStats, cacheFinishedHours } from '../../delivery/statistics.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { routeHandler } from '../route-handler.ts';
import { endpoints, ledger } from '../stores.ts';
import * as routes from './routes.ts';

const readHours = cacheFinishedHours(ledgerStore(ledger).read);

/** Reads the endpoint first, to check its organization. */
export const handler = routeHandler(routes.readWebhookStats, async ({ tenant, params, query, now }) => {
  const endpoint = await endpoints.find(tenant.orgId, params.id);
  if (!endpoint) return refusals.notFound('webhook endpoint');
  const entries = await readHours(endpoint.id, tenant.generation, getLatestHours(now, query.hours), now);
  return success(buildEndpointStats(endpoint.id, { now, count: query.hours }, entries));
});
