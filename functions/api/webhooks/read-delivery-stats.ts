import { openTables } from '../../aws/clients.ts';
import { readEnvironment, StatsEnvironment } from '../../aws/config.ts';
import { openDeliveries } from '../../delivery/delivery-queries.ts';
import { computeOldestOpenTime, estimate } from '../../delivery/disabling-forecast.ts';
import { keepFinishedHours } from '../../delivery/finished-hours.ts';
import {
  buildDeliveryStats,
  findOldestOpenHours,
  getLatestHours,
  type HourRange,
} from '../../delivery/ledger.ts';
import { ledgerStore } from '../../delivery/ledger-records.ts';
import { getRetryPolicy } from '../../delivery/simulation.ts';
import { RetryEnvironment, retryPolicy } from '../../delivery/timing.ts';
import { success } from '../../http/reply.ts';
import { type Endpoint, getFailureStatus } from '../../receivers/endpoint.ts';
import { endpointStore } from '../../receivers/endpoints.ts';
import type { Tenant } from '../../tenancy/tenant.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const environment = readEnvironment(RetryEnvironment);
const { ledger } = openTables(readEnvironment(StatsEnvironment), tables.service.client);
const endpoints = endpointStore(tables.service);
const readHours = keepFinishedHours(ledgerStore(ledger).read);
const open = openDeliveries(tables.deliveries);
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
  for (const one of all) estimated.push(await withEstimates(one, tenant, openHours.get(one.id), now, budget));
  const newestFirst = estimated.toSorted((one, other) => (one.id < other.id ? 1 : -1));
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
async function withEstimates(
  one: Endpoint,
  { generation }: Tenant,
  openHour: string | undefined,
  now: Date,
  budget: { units: number },
) {
  const failing = getFailureStatus(one);
  const own = getRetryPolicy(policy, { generation }, one.url);
  const oldest = computeOldestOpenTime(own, environment.ATTEMPT_TIMEOUT_SECONDS, now);
  const from = failing ? oldest : openHour && new Date(openHour);
  const ref = { webhookId: one.id, generation };
  const found = from ? await open(ref, [from, now], failing ? 'oldest' : 'newest', budget) : [];
  const { waitingSince, disablesAt } = estimate(found, failing?.failuresUntilDisabled ?? 0, own, now);
  return { ...one, waitingSince, failing: failing && { ...failing, disablesAt } };
}
