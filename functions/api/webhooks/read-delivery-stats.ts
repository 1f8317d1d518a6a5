import { readEnvironment } from '../../aws/config.ts';
import { computeOldestOpenTime, estimateWaits, openDeliveries } from '../../delivery/delivery-queries.ts';
import { getLatestHours, type HourRange, ledgerStore } from '../../delivery/ledger.ts';
import { getRetryPolicy } from '../../delivery/simulation.ts';
import { buildDeliveryStats, cacheFinishedHours, findOldestOpenHours } from '../../delivery/statistics.ts';
import { RetryEnvironment, retryPolicy } from '../../delivery/timing.ts';
import { success } from '../../http/reply.ts';
import { type Endpoint, getFailureStatus } from '../../receivers/endpoint.ts';
import type { Tenant } from '../../tenancy/tenant.ts';
import { routeHandler, tables } from '../route-handler.ts';
import { endpoints, ledger } from '../stores.ts';
import * as routes from './routes.ts';

const environment = readEnvironment(RetryEnvironment);
const readHours = cacheFinishedHours(ledgerStore(ledger).read);
const readOpen = openDeliveries(tables.deliveries);
const policy = retryPolicy(environment);

/** Read units for the open deliveries of all endpoints. Endpoints beyond them get no estimates. */
const UNITS = 500;
/** Endpoints deleted since, whose counts stay in the totals: an outage does not vanish with its endpoint. */
const MAX_DELETED = 50;

export const handler = routeHandler(routes.readDeliveryStats, async ({ tenant, query, now }) => {
  const all = await endpoints.all(tenant.orgId);
  const entries = await readCounts(all, tenant, getLatestHours(now, query.hours), now);
  const openHours = findOldestOpenHours(entries);
  const budget = { units: UNITS };
  const estimated = [];
  // One after the other, so that they share the budget.
  for (const endpoint of all)
    estimated.push(await addEstimates(endpoint, tenant, openHours.get(endpoint.id), now, budget));
  const newestFirst = estimated.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  return success(buildDeliveryStats(newestFirst, { now, count: query.hours }, entries));
});

/** Reads the ledger's counts. */
async function readCounts(
  all: readonly Endpoint[],
  { orgId, generation }: Tenant,
  hours: HourRange,
  now: Date,
) {
  const deleted = await endpoints.deletedSince(orgId, hours.first, MAX_DELETED);
  const read = ({ id }: Pick<Endpoint, 'id'>) => readHours(id, generation, hours, now);
  return (await Promise.all([...all, ...deleted].map(read))).flat();
}

/** While an endpoint fails, its oldest deliveries are open; of others only the newest may be. */
async function addEstimates(
  endpoint: Endpoint,
  { generation }: Tenant,
  openHour: string | undefined,
  now: Date,
  budget: { units: number },
) {
  const failing = getFailureStatus(endpoint);
  const ownPolicy = getRetryPolicy(policy, { generation }, endpoint.url);
  const oldest = computeOldestOpenTime(ownPolicy, environment.ATTEMPT_TIMEOUT_SECONDS, now);
  const from = failing ? oldest : openHour && new Date(openHour);
  const ref = { webhookId: endpoint.id, generation };
  const deliveries = from ? await readOpen(ref, [from, now], failing ? 'oldest' : 'newest', budget) : [];
  const failures = failing?.failuresUntilDisabled ?? 0;
  const { waitingSince, disablesAt } = estimateWaits(deliveries, failures, ownPolicy, now);
  return { ...endpoint, waitingSince, failing: failing && { ...failing, disablesAt } };
}
