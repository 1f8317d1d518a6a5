import * as z from 'zod/mini';
import { newId } from '../../aws/ids.ts';
import { getCurrentVersion } from '../../aws/keyrings.ts';
import { deriveSigningSecret } from '../../delivery/signature.ts';
import { problem } from '../../http/problem.ts';
import { success } from '../../http/reply.ts';
import { Endpoint, MAX_ENDPOINTS } from '../../receivers/endpoint.ts';
import { endpointStore } from '../../receivers/endpoints.ts';
import { NEW } from '../../receivers/pace.ts';
import { compareFields } from '../../tenancy/audit.ts';
import { checkReceiver, createHostLimitProblem, createUrlProblem } from '../receivers.ts';
import { routeHandler, tables } from '../route-handler.ts';
import { signingKeys } from '../signing.ts';
import * as routes from './routes.ts';
import { WEBHOOK_SETTINGS } from './schemas.ts';

const endpoints = endpointStore(tables.service);

const GONE = problem(
  'GONE',
  'The webhook endpoint that this request registered was deleted. Register it with a new Idempotency-Key.',
);

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
      { id: registered.id, changes: compareFields(WEBHOOK_SETTINGS, undefined, registered) },
      {
        'endpoint-limit': problem(
          'LIMIT_EXCEEDED',
          `An organization can have at most ${MAX_ENDPOINTS} webhook endpoints. Delete one first.`,
        ),
        'endpoint-host-limit': createHostLimitProblem(),
      },
    );
  },
  async (data, { tenant, isReplay }) => {
    const { id, keyVersion } = Derivable.parse(data);
    // The secret of a deleted endpoint is of no use any more, and must not be shown again.
    if (isReplay && tenant !== undefined && !(await endpoints.find(tenant.orgId, id))) return GONE;
    return {
      ...Object(data),
      secret: await signingKeys((ring) => deriveSigningSecret(ring, keyVersion, id)),
    };
  },
);
