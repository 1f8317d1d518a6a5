import { type RouteKey, routes } from '../../../functions/api/routes.ts';
import type { Route } from '../../../functions/http/route.ts';
import type { Measured } from '../../../lib/cost/measured.ts';
import { type Operation, readDocument } from '../../fuzz/document.ts';
import { apiClient } from '../../support/api.ts';
import { aVisitor, filled, withRealIds } from '../../support/resources.ts';
import { aTenant, type Tenant } from '../../support/tenant.ts';
import { minus, NOTHING, type Tally, times } from './tally.ts';
import type { WatchedRun } from './watched-run.ts';
import { eachInvocation, workOf } from './work.ts';

const CALLS = 3;
/** Limits of an organization apply to created resources, so each round has one of its own. */
const ROUNDS = { warm: 1, keyed: CALLS, plain: CALLS };

/**
 * Calls each route of the API some times, with an idempotency key where it takes one and then without, and
 * returns the cost of a call. The resources for these calls are created over the API as well, with keys,
 * which counts for their routes.
 */
export async function measureCalls(run: WatchedRun): Promise<Measured['calls']> {
  const operations = routeOperations();
  await callAll(run, operations, ROUNDS.warm, true);
  await run.taken();
  await callAll(run, operations, ROUNDS.keyed, true);
  const keyed = await run.taken();
  const posts = operations.filter((operation) => routeOf(operation).idempotency === 'honoured');
  await callAll(run, posts, ROUNDS.plain, false);
  const mixed = await run.taken();

  return Object.fromEntries(
    operations.map((operation) => {
      const { name, idempotency } = routeOf(operation);
      const withKey = eachInvocation(keyed[name] ?? NOTHING);
      if (idempotency === undefined) return [name, { withoutKey: workOf(withKey) }];
      if (idempotency === 'required') return [name, { withKey: workOf(withKey) }];
      const withoutKey = others(mixed[name] ?? NOTHING, withKey);
      return [name, { withKey: workOf(withKey), withoutKey: workOf(withoutKey) }];
    }),
  );
}

/** The cost of a call without a key, of calls of both kinds. */
function others(all: Tally, withKey: Tally): Tally {
  const keyed = all.invocations - ROUNDS.plain;
  return times(minus(all, times(withKey, keyed)), 1 / ROUNDS.plain);
}

/** The document's operations for routes that functions answer. */
export const routeOperations = (): Operation[] =>
  readDocument().operations.filter(({ id }) => Object.hasOwn(routes, id));

/** The route of an operation. */
export const routeOf = ({ id }: Operation): Route => routes[id as RouteKey];

/**
 * Calls each of some routes repeatedly, each time in an organization of its own.
 * @param withKey also where a route does not require an idempotency key
 * @throws Error when a call does not succeed
 */
export async function callAll(
  run: Pick<WatchedRun, 'service'>,
  operations: readonly Operation[],
  rounds: number,
  withKey: boolean,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const tenant = await aTenant(run.service);
    for (const operation of operations) await call(run, tenant, operation, withKey);
    tenant.close();
  }
}

/** @throws Error when the call does not succeed */
async function call(
  run: Pick<WatchedRun, 'service'>,
  tenant: Tenant,
  operation: Operation,
  withKey: boolean,
): Promise<void> {
  const { method, caller, body } = operation;
  const path = await filled(tenant, operation.path);
  const sent = body && (await withRealIds(tenant, body.example));
  const credential =
    caller === 'visitor' ? await aVisitor(tenant) : caller === 'session' ? tenant.session : tenant.key;
  const client = apiClient({ BASE_URL: run.service.url, API_KEY: credential });
  const answer =
    method === 'POST' && (withKey || routeOf(operation).idempotency === 'required')
      ? await client.post(path, sent)
      : await client.call({ method, path, body: sent });
  client.close();
  if (answer.status >= 400)
    throw new Error(`${operation.id} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
}
