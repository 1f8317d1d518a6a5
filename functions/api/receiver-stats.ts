import { getLatestHours, ledgerStore } from '../delivery/ledger.ts';
import { buildEndpointStats, cacheFinishedHours } from '../delivery/statistics.ts';
import { isProblem } from '../http/problem.ts';
import { success } from '../http/reply.ts';
import type { statsRoute } from './receiver-routes.ts';
import { findReceiver, nameReceiver } from './receivers.ts';
import { routeHandler } from './route-handler.ts';
import { ledger } from './stores.ts';

const readHours = cacheFinishedHours(ledgerStore(ledger).read);

/** Counts of a receiver, which is read first to check its organization. */
export const statsHandler = (route: ReturnType<typeof statsRoute>) =>
  routeHandler(route, async ({ tenant, params: { id }, query, now }) => {
    const receiver = await findReceiver(tenant.orgId, id);
    if (isProblem(receiver)) return receiver;
    const entries = await readHours(id, tenant.generation, getLatestHours(now, query.hours), now);
    return success(nameReceiver(buildEndpointStats(id, { now, count: query.hours }, entries)));
  });
