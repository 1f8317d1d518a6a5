import { openTables } from '../../aws/clients.ts';
import { readEnvironment, UsageEnvironment } from '../../aws/config.ts';
import { getLatestMonths, NO_USAGE, usageReader } from '../../events/usage.ts';
import { success } from '../../http/reply.ts';
import { tables } from '../route-handler.ts';
import * as routes from './routes.ts';
import { sessionRouteHandler } from './session.ts';

const { usage } = openTables(readEnvironment(UsageEnvironment), tables.service.client);
const read = usageReader(usage);

export const handler = sessionRouteHandler(routes.readUsage, async ({ tenant, query, now }) => {
  const months = getLatestMonths(now, query.months);
  const [to = '', from = to] = [months[0], months.at(-1)];
  const counted = await read(tenant.orgId, { from, to });
  return success({
    organizationId: tenant.orgId,
    months: months.map((month) => ({ month, ...(counted.get(month) ?? NO_USAGE) })),
  });
});
