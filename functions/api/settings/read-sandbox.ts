import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { purges } from '../stores.ts';
import * as routes from './routes.ts';
import { findSandbox, sessionRouteHandler } from './session.ts';

export const handler = sessionRouteHandler(routes.readSandbox, async ({ tenant }) => {
  const pair = await findSandbox(tenant.orgId);
  if (!pair) return refusals.notFound('sandbox');
  const { pairing, sandbox } = pair;
  const open = await purges.of(sandbox.id);
  const [oldest] = open;
  return success({
    sandboxOrganizationId: sandbox.id,
    createdAt: pairing.createdAt,
    lastResetAt: sandbox.resetAt,
    purge: oldest && {
      since: oldest.requestedAt,
      deleted: open.reduce((sum, { deleted }) => sum + deleted, 0),
    },
  });
});
