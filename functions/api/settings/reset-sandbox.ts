import type { OrgId } from '../../aws/ids.ts';
import type { Change } from '../../aws/transaction.ts';
import { retryOnConflict } from '../../http/api.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { MAX_CHANNELS } from '../../receivers/channels.ts';
import { channels, endpoints, purges, sandboxes } from '../stores.ts';
import * as routes from './routes.ts';
import { findSandbox, sessionRouteHandler } from './session.ts';

/** Failures of endpoints and channels belong to the deleted data, so a reset makes them active again. */
async function buildActivations(sandbox: OrgId): Promise<Change[]> {
  const [registered, connected] = await Promise.all([
    endpoints.all(sandbox),
    channels.list(sandbox, { limit: MAX_CHANNELS }),
  ]);
  const receivers = [...registered, ...connected.items.filter((channel) => channel.kind === 'http')];
  return receivers.flatMap((receiver) => endpoints.buildActivation(receiver));
}

/**
 * Starts the sandbox's next generation and orders the deletion of the previous one, in one transaction
 * (docs/specification.md, Sandbox reset). If a concurrent reset comes first, nothing is left to do.
 */
export const handler = sessionRouteHandler(routes.resetSandbox, ({ tenant, now, effect }) =>
  retryOnConflict(async (again) => {
    const pair = await findSandbox(tenant.orgId);
    if (!pair) return refusals.noSandbox;
    const { sandbox } = pair;
    const previous = { orgId: sandbox.id, generation: sandbox.generation };
    const resetAt = now.toISOString();
    const buildReply = (at: string | undefined) =>
      success({ sandboxOrganizationId: sandbox.id, resetAt: at });
    return effect(
      buildReply(resetAt),
      [
        sandboxes.nextGeneration(previous, now),
        purges.order({ ...previous, requestedAt: resetAt }),
        ...(await buildActivations(sandbox.id)),
      ],
      { id: sandbox.id, changes: [{ field: 'resetAt', before: sandbox.resetAt ?? null, after: resetAt }] },
      {
        'generation-over': async () => buildReply((await findSandbox(tenant.orgId))?.sandbox.resetAt),
        'endpoint-missing': again,
      },
    );
  }),
);
