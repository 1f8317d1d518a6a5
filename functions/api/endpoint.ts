import type { CursorBinding } from '../domain/cursor.ts';
import { openCursor, sealCursor } from '../domain/cursor.ts';
import { type Problem, problem } from '../domain/problem.ts';
import type { Tenant } from '../domain/tenant.ts';
import { documentClient, secretsClient } from '../platform/clients.ts';
import { ApiEnvironment, loopbackReceivers, rateLimits, readEnvironment } from '../platform/config.ts';
import { keyringSource } from '../platform/keyrings.ts';
import { logger } from '../platform/logger.ts';
import { RATE_LIMITER_FAILURES } from '../platform/metric-names.ts';
import { countOne } from '../platform/metrics.ts';
import { type ApiPorts, apiHandler } from '../platform/pipeline/api.ts';
import { keyAuthentication } from '../platform/pipeline/authentication.ts';
import { rateLimiter } from '../platform/pipeline/rate-limit.ts';
import type { UseCase } from '../platform/pipeline/request.ts';
import { remembered } from '../platform/remembered.ts';
import { success } from '../platform/reply.ts';
import type { Route } from '../platform/route.ts';
import { apiKeyStore } from '../store/api-keys.ts';
import { idempotencyStore } from '../store/idempotency.ts';
import { tenantKey } from '../store/keys.ts';
import { organizationStore } from '../store/organizations.ts';
import type { Page, PageRequest } from '../store/pages.ts';
import { rateWindowStore } from '../store/rate-windows.ts';
import { type Change, committer } from '../store/transaction.ts';

/*
 * What all endpoint functions stand on: their environment, their clients, and the pipeline with its ports plugged in.
 */

const environment = readEnvironment(ApiEnvironment);
const client = documentClient();
const secrets = secretsClient();

export const tables = {
  service: { client, name: environment.SERVICE_TABLE },
  outbox: { client, name: environment.OUTBOX_TABLE },
  deliveries: { client, name: environment.DELIVERIES_TABLE },
};
export const commit = committer(client);
export const signingKeys = keyringSource(secrets, environment.SIGNING_KEYS);
export const receiverPolicy = { loopback: loopbackReceivers() };
const cursorKeys = keyringSource(secrets, environment.CURSOR_KEYS);

/** How old an organization's tier may be. */
const TIER_FRESH_MS = 30_000;

/** The pipeline's ports, but for who calls. */
export const ports: Omit<ApiPorts<Change>, 'authenticate'> = {
  organization: remembered(organizationStore(tables.service).find, TIER_FRESH_MS),
  limit: rateLimiter(rateWindowStore({ client, name: environment.RATE_TABLE }), rateLimits(environment)),
  onLimiterFailure: () => countOne(RATE_LIMITER_FAILURES),
  memory: idempotencyStore(tables.service),
  commit,
  logger,
  now: () => new Date(),
};
const authenticate = keyAuthentication(apiKeyStore(tables.service));

/** The Lambda handler of a route of the public API. @param reveal completes the answer with what is never stored */
export const endpoint = <R extends Route>(
  route: R,
  useCase: UseCase<R, Change>,
  reveal?: (data: unknown) => unknown,
) => apiHandler(route, { ...ports, authenticate }, useCase, reveal);

/** Lists: opens the cursor, reads a page, seals the next cursor. Both are bound to tenant, route and path. */
export async function paginated<T>(
  route: Route,
  request: {
    tenant: Tenant;
    params: Record<string, string>;
    query: { limit: number; cursor?: string | undefined };
  },
  read: (page: PageRequest) => Promise<Page<T> | Problem>,
) {
  const { tenant, params, query } = request;
  const binding: CursorBinding = {
    tenant: tenantKey(tenant),
    route: route.name,
    filters: Object.values(params),
  };
  const { cursor } = query;
  const after =
    cursor === undefined ? undefined : await cursorKeys((ring) => openCursor(ring, cursor, binding));
  if (cursor !== undefined && after === undefined)
    return problem('VALIDATION_ERROR', 'cursor is not one that this listing gave.');
  const page = await read({ limit: query.limit, after });
  if ('kind' in page) return page;
  const { next } = page;
  const nextCursor = next === undefined ? null : await cursorKeys((ring) => sealCursor(ring, next, binding));
  return success(page.items, { nextCursor });
}
