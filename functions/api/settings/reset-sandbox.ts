import { problem } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { purgeStore } from '../../store/purges.ts';
import { tables } from '../route-handler.ts';
import { sessionRouteHandler } from '../session-route-handler.ts';
import * as routes from './routes.ts';
import { findSandbox, sandboxes } from './sandbox.ts';

const purges = purgeStore(tables.service);

/**
 * Starts the sandbox's next generation and orders the deletion of the previous one, in one transaction
 * (docs/specification.md, Sandbox reset). If a concurrent reset comes first, nothing is left to do.
 */
export const handler = sessionRouteHandler(routes.resetSandbox, async ({ tenant, now, effect }) => {
  const found = await findSandbox(tenant.orgId);
  if (!found)
    return problem('SANDBOX_NOT_PROVISIONED', 'The organization has no sandbox. Provision one first.');
  const { sandbox } = found;
  const previous = { orgId: sandbox.id, generation: sandbox.generation };
  const resetAt = now.toISOString();
  const buildReply = (at: string | undefined) => success({ sandboxOrganizationId: sandbox.id, resetAt: at });
  return effect(
    buildReply(resetAt),
    [sandboxes.nextGeneration(previous, now), purges.order({ ...previous, requestedAt: resetAt })],
    { 'generation-over': async () => buildReply((await findSandbox(tenant.orgId))?.sandbox.resetAt) },
  );
});
