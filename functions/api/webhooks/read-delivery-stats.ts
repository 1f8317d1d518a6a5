import { latestHours, openHours, overviewOf, WAITING_MS } from '../../domain/delivery-stats.ts';
import { disablesAt, openSince } from '../../domain/disabling.ts';
import { type Endpoint, failingOf } from '../../domain/endpoint.ts';
import { atSpeed, programOf } from '../../domain/simulation.ts';
import { isOfSandbox, type Tenant } from '../../domain/tenant.ts';
import { RetryEnvironment, readEnvironment, retryPolicy, StatsEnvironment } from '../../platform/config.ts';
import { success } from '../../platform/reply.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { ledgerStore } from '../../store/ledger.ts';
import { openDeliveries } from '../../store/open-deliveries.ts';
import { waitingDeliveries } from '../../store/waiting-deliveries.ts';
import { endpoint, tables } from '../endpoint.ts';
import * as routes from './routes.ts';

const environment = { ...readEnvironment(StatsEnvironment), ...readEnvironment(RetryEnvironment) };
const endpoints = endpointStore(tables.service);
const ledger = ledgerStore({ client: tables.service.client, name: environment.LEDGER_TABLE });
const open = openDeliveries(tables.deliveries);
const waiting = waitingDeliveries(tables.deliveries);
const policy = retryPolicy(environment);

export const handler = endpoint(routes.readDeliveryStats, async ({ tenant, query, now }) => {
  const all = await endpoints.all(tenant.orgId);
  const [{ entries, since }, failing] = await Promise.all([
    countsOf(all, tenant, latestHours(now, query.hours), now),
    Promise.all(all.map(async (one) => ({ ...one, failing: await prospectOf(one, tenant, now) }))),
  ]);
  const newestFirst = failing
    .map((one) => ({ ...one, waitingSince: since.get(one.id) ?? null }))
    .toSorted((one, other) => (one.id < other.id ? 1 : -1));
  return success(overviewOf(newestFirst, { now, count: query.hours }, entries));
});

/** What the ledger says, and since when deliveries wait: it knows hours alone. Deliveries are read for endpoints that have open ones. */
async function countsOf(
  all: readonly Endpoint[],
  { generation }: Tenant,
  hours: readonly string[],
  now: Date,
) {
  const entries = await ledger.readAll(
    all.map(({ id }) => id),
    generation,
    hours,
  );
  const to = new Date(now.getTime() - WAITING_MS);
  const since = await Promise.all(
    [...openHours(entries)].map(
      async ([webhookId, hour]) =>
        [webhookId, await waiting({ webhookId, generation }, new Date(hour), to)] as const,
    ),
  );
  return { entries, since: new Map(since) };
}

/** What is to come of an endpoint whose deliveries fail. Deliveries are read for such alone. */
async function prospectOf(one: Endpoint, tenant: Tenant, now: Date) {
  const failing = failingOf(one);
  if (failing === null) return null;
  const own = isOfSandbox(tenant) ? atSpeed(policy, programOf(one.url).speed) : policy;
  const from = openSince(own, environment.ATTEMPT_TIMEOUT_SECONDS, now);
  const { failuresUntilDisabled } = failing;
  const ref = { webhookId: one.id, generation: tenant.generation };
  const found = await open(ref, from, now, failuresUntilDisabled);
  const at = disablesAt(failuresUntilDisabled, found, own, now);
  return { ...failing, disablesAt: at?.toISOString() ?? null };
}
