import { problem } from '../../domain/problem.ts';
import { success } from '../../platform/reply.ts';
import { purgeStore } from '../../store/purges.ts';
import { sandboxStore } from '../../store/sandboxes.ts';
import { tables } from '../endpoint.ts';
import { sessionEndpoint } from '../session-endpoint.ts';
import * as routes from './routes.ts';

const sandboxes = sandboxStore(tables.service);
const purges = purgeStore(tables.service);

/**
 * Moves the sandbox to its next generation, and orders that the one before be deleted, in one transaction: at once, whatever there is (decisions.md,
 * Sandbox). Where another reset came in between, it has wiped all that was there when this one was asked for.
 */
export const handler = sessionEndpoint(routes.resetSandbox, async ({ tenant, now, effect }) => {
  const find = async () => {
    const { pairing, sandbox } = await sandboxes.find(tenant.orgId);
    if (pairing && sandbox?.liveOrganizationId !== tenant.orgId)
      throw new Error('the pairing of an organization does not hold');
    return sandbox;
  };
  const sandbox = await find();
  if (!sandbox)
    return problem('SANDBOX_NOT_PROVISIONED', 'The organization has no sandbox: provision it first.');
  const present = { orgId: sandbox.id, generation: sandbox.generation };
  const resetAt = now.toISOString();
  const answer = (at: string | undefined) => success({ sandboxOrganizationId: sandbox.id, resetAt: at });
  return effect(
    answer(resetAt),
    [sandboxes.nextGeneration(present, now), purges.order({ ...present, requestedAt: resetAt })],
    { 'generation-over': async () => answer((await find())?.resetAt) },
  );
});
