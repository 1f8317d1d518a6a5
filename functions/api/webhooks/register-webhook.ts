import * as z from 'zod/mini';
import { newId } from '../../aws/ids.ts';
import { getCurrentVersion } from '../../aws/keyrings.ts';
import { deriveSigningSecret } from '../../delivery/signature.ts';
import { refusals } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { Endpoint, MAX_ENDPOINTS, MAX_ENDPOINTS_PER_HOST } from '../../receivers/endpoint.ts';
import { NEW } from '../../receivers/pace.ts';
import { compareFields } from '../../tenancy/audit.ts';
import { checkReceiver, createUrlProblem } from '../receivers.ts';
import { routeHandler } from '../route-handler.ts';
import { endpoints, signingKeys } from '../stores.ts';
import * as routes from './routes.ts';

/** The idempotency record stores what the secret is derived from, not the secret. */
const Derivable = z.pick(Endpoint, { id: true, keyVersion: true });

export const handler = routeHandler(
  routes.registerWebhook,
  async ({ tenant, body, now, effect }) => {
    const receiver = await checkReceiver(body.url, tenant);
    if (!receiver.ok) return createUrlProblem(receiver);
    const { href: url } = receiver.url;
    const registered: Endpoint = {
      id: newId('whk', now),
      orgId: tenant.orgId,
      url,
      events: body.events,
      ...(body.description !== undefined && { description: body.description }),
      ...(body.maxPerSecond !== undefined && { maxPerSecond: body.maxPerSecond }),
      status: 'active',
      consecutiveFailures: 0,
      pace: NEW,
      keyVersion: await signingKeys(getCurrentVersion),
      createdAt: now.toISOString(),
      ...(await endpoints.findReplaced(tenant.orgId, url)),
    };
    return effect(
      success(registered, { location: `/api/v1/webhooks/${registered.id}` }),
      endpoints.add(registered),
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
