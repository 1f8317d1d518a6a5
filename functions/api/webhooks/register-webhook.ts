import * as z from 'zod/mini';
import { deriveDeliveryId, type EndpointId, newId, type TraceId } from '../../aws/ids.ts';
import { getCurrentVersion } from '../../aws/keyrings.ts';
import { deriveSigningSecret } from '../../delivery/signature.ts';
import { buildEvent } from '../../events/events.ts';
import { invalid, refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { Endpoint, MAX_ENDPOINTS, MAX_ENDPOINTS_PER_HOST } from '../../receivers/endpoint.ts';
import { NEW } from '../../receivers/pace.ts';
import { createSuccessorJob, toJobView } from '../../redelivery/jobs.ts';
import { compareFields } from '../../tenancy/audit.ts';
import type { Tenant } from '../../tenancy/tenant.ts';
import { checkReceiver, createUrlProblem } from '../receivers.ts';
import { routeHandler } from '../route-handler.ts';
import { endpoints, outbox, signingKeys, startJob } from '../stores.ts';
import * as routes from './routes.ts';

type RegisteredEndpoint = Endpoint & { id: EndpointId };

/** The idempotency record stores what the secret is derived from, not the secret. */
const Derivable = z.pick(Endpoint, { id: true, keyVersion: true });

export const handler = routeHandler(
  routes.registerWebhook,
  async ({ tenant, body, now, traceId, effect }) => {
    const receiver = await checkReceiver(body.url, tenant);
    if (!receiver.ok) return createUrlProblem(receiver);
    const { href: url } = receiver.url;
    const { recoversFrom, ...succession } = await endpoints.findReplaced(tenant.orgId, url);
    const asked: RegisteredEndpoint = {
      id: newId('whk', now),
      orgId: tenant.orgId,
      url,
      events: body.events,
      ...(body.filter !== undefined && { filter: body.filter }),
      ...(body.description !== undefined && { description: body.description }),
      ...(body.maxPerSecond !== undefined && { maxPerSecond: body.maxPerSecond }),
      status: 'active',
      consecutiveFailures: 0,
      pace: NEW,
      keyVersion: await signingKeys(getCurrentVersion),
      createdAt: now.toISOString(),
      ...succession,
    };
    const recovery = body.recover && buildRecovery(asked, recoversFrom, { tenant, now, traceId });
    if (recovery === null) return NO_PREDECESSOR;
    const redelivery = recovery && toJobView(recovery.job);
    const registered = { ...asked, ...(recovery && { recoversFrom: recovery.job.from }) };
    return effect(
      success({ ...registered, redelivery }, { location: `/api/v1/webhooks/${registered.id}` }),
      [
        ...endpoints.add(registered),
        ...(recovery ? [outbox.append(recovery.test), ...startJob(recovery.job, now)] : []),
      ],
      { id: registered.id, changes: compareFields(routes.WEBHOOK_SETTINGS, undefined, registered) },
      {
        'endpoint-limit': refusals.tooMany('webhook endpoints', MAX_ENDPOINTS),
        'endpoint-host-limit': refusals.tooManyEndpointsAtHost(MAX_ENDPOINTS_PER_HOST),
      },
    );
  },
  {
    async addSecrets(data, { tenant, isReplay }) {
      const { id, keyVersion } = Derivable.parse(data);
      // The secret of a deleted endpoint is of no use any more, and must not be shown again.
      if (isReplay && !(await endpoints.find(tenant.orgId, id))) return refusals.deletedEndpoint;
      const secret = await signingKeys((ring) => deriveSigningSecret(ring, keyVersion, id));
      return { ...Object(data), secret };
    },
  },
);

const NO_PREDECESSOR = invalid({
  field: 'recover',
  code: 'not_allowed',
  message: 'needs an endpoint with this url that was disabled in the last 30 days',
});

/**
 * A test of the new endpoint, and the job that follows its success; null without a predecessor.
 */
function buildRecovery(
  { id, predecessor }: RegisteredEndpoint,
  recoversFrom: string | undefined,
  context: { tenant: Tenant; now: Date; traceId: TraceId },
) {
  if (predecessor === undefined) return null;
  const test = buildEvent('webhook.test', { webhookId: id }, { ...context, onlyTo: id });
  const job = createSuccessorJob(
    id,
    predecessor,
    { test: deriveDeliveryId(test.id, id), recoversFrom },
    context,
  );
  return { test, job };
}
