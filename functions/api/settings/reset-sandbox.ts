import { problem } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { purgeStore } from '../../store/purges.ts';
import { tables } from '../route-handler.ts';
import { sessionRouteHandler } from '../session-route-handler.ts';
import * as routes from './routes.ts';
import { findSandbox, sandboxes } from './sandbox.ts';

const purges = purgeStore(tables.service);

/**
 * Moves the sandbox to its next generation, and orders that the one before be deleted, in one transaction: at
 * once, whatever there is (decisions.md, Sandbox). Where another reset came in between, it has wiped all that
 * was there when this one was asked for.
 */
export const handler = sessionRouteHandler(routes.resetSandbox, async ({ tenant, now, effect }) => {
  const found = await findSandbox(tenant.orgId);
  if (!found)
    return problem('SANDBOX_NOT_PROVISIONED', 'The organization has no sandbox: provision it first.');
  const { sandbox } = found;
  const present = { orgId: sandbox.id, generation: sandbox.generation };
  const resetAt = now.toISOString();
  const answer = (at: string | undefined) => success({ sandboxOrganizationId: sandbox.id, resetAt: at });
  return effect(
    answer(resetAt),
    [sandboxes.nextGeneration(present, now), purges.order({ ...present, requestedAt: resetAt })],
    { 'generation-over': async () => answer((await findSandbox(tenant.orgId))?.sandbox.resetAt) },
  );
});
