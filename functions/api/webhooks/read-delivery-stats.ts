import { latestHours, overviewOf } from '../../domain/delivery-stats.ts';
import { disablesAt, openSince } from '../../domain/disabling.ts';
import { type Endpoint, failingOf } from '../../domain/endpoint.ts';
import { atSpeed, programOf } from '../../domain/simulation.ts';
import { isOfSandbox, type Tenant } from '../../domain/tenant.ts';
import { RetryEnvironment, readEnvironment, retryPolicy, StatsEnvironment } from '../../platform/config.ts';
import { success } from '../../platform/reply.ts';
import { endpointStore } from '../../store/endpoints.ts';
import { ledgerStore } from '../../store/ledger.ts';
import { openDeliveries } from '../../store/open-deliveries.ts';
import { endpoint, tables } from '../endpoint.ts';
import * as routes from './routes.ts';

const environment = { ...readEnvironment(StatsEnvironment), ...readEnvironment(RetryEnvironment) };
const endpoints = endpointStore(tables.service);
const ledger = ledgerStore({ client: tables.service.client, name: environment.LEDGER_TABLE });
const open = openDeliveries(tables.deliveries);
const policy = retryPolicy(environment);

export const handler = endpoint(routes.readDeliveryStats, async ({ tenant, query, now }) => {
  const all = await endpoints.all(tenant.orgId);
  const [entries, failing] = await Promise.all([
    ledger.readAll(
      all.map(({ id }) => id),
      tenant.generation,
      latestHours(now, query.hours),
    ),
    Promise.all(all.map(async (one) => ({ ...one, failing: await prospectOf(one, tenant, now) }))),
  ]);
  const newestFirst = failing.toSorted((one, other) => (one.id < other.id ? 1 : -1));
  return success(overviewOf(newestFirst, { now, count: query.hours }, entries));
});

/** What is to come of an endpoint whose deliveries fail. Deliveries are read for such alone. */
async function prospectOf(one: Endpoint, tenant: Tenant, now: Date) {
  const failing = failingOf(one);
  if (failing === null) return null;
  const own = isOfSandbox(tenant) ? atSpeed(policy, programOf(one.url).speed) : policy;
  const from = openSince(own, environment.ATTEMPT_TIMEOUT_SECONDS, now);
  const found = await open({ webhookId: one.id, generation: tenant.generation }, from, now);
  const at = disablesAt(failing.failuresUntilDisabled, found, own, now);
  return { ...failing, disablesAt: at?.toISOString() ?? null };
}
