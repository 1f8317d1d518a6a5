import { notFound } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { purgeStore } from '../../store/purges.ts';
import { sandboxStore } from '../../store/sandboxes.ts';
import { tables } from '../endpoint.ts';
import { sessionEndpoint } from '../session-endpoint.ts';
import * as routes from './routes.ts';

const sandboxes = sandboxStore(tables.service);
const purges = purgeStore(tables.service);

export const handler = sessionEndpoint(routes.readSandbox, async ({ tenant }) => {
  const { pairing, sandbox } = await sandboxes.find(tenant.orgId);
  if (!pairing || !sandbox) return notFound('sandbox');
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
