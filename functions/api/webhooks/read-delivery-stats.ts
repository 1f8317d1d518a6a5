import { computeOldestOpenTime, predictDisabling } from '../../domain/disabling-forecast.ts';
import { type Endpoint, getFailureStatus } from '../../domain/endpoint.ts';
import {
  buildDeliveryStats,
  findOldestOpenHours,
  getLatestHours,
  type HourRange,
  WAITING_MS,
} from '../../domain/ledger.ts';
import { getRetryPolicy } from '../../domain/simulation.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { RetryEnvironment, readEnvironment, retryPolicy, StatsEnvironment } from '../../platform/config.ts';
import { keepFinishedHours } from '../../platform/finished-hours.ts';
import { success } from '../../platform/reply.ts';
import { openTables } from '../../platform/tables.ts';
import { openDeliveries, type ReadBudget, waitingDeliveries } from '../../store/delivery-queries.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { ledgerStore } from '../../store/ledger.ts';
import { routeHandler, tables } from '../route-handler.ts';
import * as routes from './routes.ts';

const environment = readEnvironment(RetryEnvironment);
const { ledger } = openTables(readEnvironment(StatsEnvironment), tables.service.client);
const endpoints = endpointStore(tables.service);
const readHours = keepFinishedHours(ledgerStore(ledger).read);
const open = openDeliveries(tables.deliveries);
const waiting = waitingDeliveries(tables.deliveries);
const policy = retryPolicy(environment);

/**
 * Read units for each of two estimates: when failing endpoints will be disabled, and since when deliveries
 * wait. Endpoints beyond the budget get no estimate.
 */
const UNITS = 250;
/** Endpoints deleted since, whose counts stay in the totals: an outage does not vanish with its endpoint. */
const MAX_DELETED = 50;

export const handler = routeHandler(routes.readDeliveryStats, async ({ tenant, query, now }) => {
  const all = await endpoints.all(tenant.orgId);
  const [{ entries, since }, failing] = await Promise.all([
    readCounts(all, tenant, getLatestHours(now, query.hours), now),
    runInTurns(all, async (one, budget) => ({
      ...one,
      failing: await predictFailure(one, tenant, now, budget),
    })),
  ]);
  const newestFirst = failing
    .map((one) => ({ ...one, waitingSince: since.get(one.id) ?? null }))
    .toSorted((one, other) => (one.id < other.id ? 1 : -1));
  return success(buildDeliveryStats(newestFirst, { now, count: query.hours }, entries));
});

/**
 * Reads the ledger's counts, and since when deliveries wait. The ledger has hours only, so the latter is read
 * from the deliveries of endpoints with open ones.
 */
async function readCounts(
  all: readonly Endpoint[],
  { orgId, generation }: Tenant,
  hours: HourRange,
  now: Date,
) {
  const deleted = await endpoints.deletedSince(orgId, hours.first, MAX_DELETED);
  const readAll = async (some: readonly Pick<Endpoint, 'id'>[]) =>
    (await Promise.all(some.map(({ id }) => readHours(id, generation, hours, now)))).flat();
  const [entries, ofDeleted] = await Promise.all([readAll(all), readAll(deleted)]);
  const to = new Date(now.getTime() - WAITING_MS);
  const since = await runInTurns([...findOldestOpenHours(entries)], async ([webhookId, hour], budget) => {
    const ref = { webhookId, generation };
    return [webhookId, await waiting(ref, { from: new Date(hour), to, now }, budget)] as const;
  });
  return { entries: [...entries, ...ofDeleted], since: new Map(since) };
}

/** Reads items one after the other, so that they share the budget. */
async function runInTurns<T, R>(items: readonly T[], read: (item: T, budget: ReadBudget) => Promise<R>) {
  const budget = { units: UNITS };
  const results: R[] = [];
  for (const item of items) results.push(await read(item, budget));
  return results;
}

/** Predicts when a failing endpoint will be disabled. Reads deliveries of failing endpoints only. */
async function predictFailure(one: Endpoint, tenant: Tenant, now: Date, budget: ReadBudget) {
  const failing = getFailureStatus(one);
  if (failing === null) return null;
  const own = getRetryPolicy(policy, tenant, one.url);
  const from = computeOldestOpenTime(own, environment.ATTEMPT_TIMEOUT_SECONDS, now);
  const { failuresUntilDisabled } = failing;
  const ref = { webhookId: one.id, generation: tenant.generation };
  const found = await open(ref, from, now, failuresUntilDisabled, budget);
  const at = predictDisabling(failuresUntilDisabled, found, own, now);
  return { ...failing, disablesAt: at?.toISOString() ?? null };
}
