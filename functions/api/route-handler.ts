import { memoizeFor } from '../aws/cache.ts';
import { openTables, tableClient } from '../aws/clients.ts';
import { ApiEnvironment, readEnvironment } from '../aws/config.ts';
import { ConversationId } from '../aws/ids.ts';
import { logger } from '../aws/logger.ts';
import { committer } from '../aws/transaction.ts';
import { isErasedConversation } from '../conversations/conversations.ts';
import { type AddSecrets, type ApiPorts, apiHandler, type UseCase } from '../http/api.ts';
import {
  type Authenticate,
  authenticateByMode,
  keyAuthentication,
  keyUseRecorder,
  type ReadAhead,
} from '../http/authentication.ts';
import { idempotencyStore } from '../http/idempotency.ts';
import { meterCapacity } from '../http/lifecycle.ts';
import { type RateLimiter, rateLimiter, rateWindowStore } from '../http/limiter.ts';
import { refusals } from '../http/problem.ts';
import { rateLimits } from '../http/rate-limit.ts';
import type { Route } from '../http/route.ts';
import { apiKeyStore, keyUseStore } from '../tenancy/api-keys.ts';
import { recordAuditEntry } from '../tenancy/audit.ts';
import { readOrganizationState, readPairing } from '../tenancy/organizations.ts';
import type { Tenant } from '../tenancy/tenant.ts';

/*
 * Shared by all route handlers: environment, clients, and the pipeline with its ports.
 */

export const environment = readEnvironment(ApiEnvironment);
const client = tableClient();
const capacity = meterCapacity(client);

export const tables = openTables(environment, client);

/** Ports of the pipeline, without authentication. */
export const ports: Omit<ApiPorts, 'authenticate'> = {
  logger,
  now: () => new Date(),
  organization: memoizeFor(readOrganizationState(tables.service), { capacity: 1000, freshMs: 30_000 }),
  limiter: rateLimiter(rateWindowStore(tables.rates), rateLimits(environment)),
  capacity,
  idempotency: idempotencyStore(tables.service),
  commit: committer(client),
  recordAuditEntry: (entry) => recordAuditEntry(tables.service, entry),
};
const findSandbox = readPairing(tables.service);
const keys = {
  find: apiKeyStore(tables.service).find,
  noteUse: keyUseRecorder(keyUseStore(tables.rates), logger.log),
};

/** Callers with API keys, or with sessions where the route has a role for them. */
const authenticateKeys = (ahead?: ReadAhead): Authenticate =>
  authenticateByMode(
    keyAuthentication(keys, findSandbox, logger.log, ahead),
    // A separate file of the bundle (lib/infra/bundle.ts), loaded with the first session.
    async () => (await import('./sessions.ts')).authenticate,
    findSandbox,
  );

interface Options {
  /** Of routes for other callers than API keys. */
  authenticate?: Authenticate;
  limiter?: RateLimiter;
  ahead?: ReadAhead;
  addSecrets?: AddSecrets;
}

/** Creates the Lambda handler of a route. */
export const routeHandler = <R extends Route>(
  route: R,
  useCase: UseCase<R>,
  {
    ahead,
    authenticate = authenticateKeys(ahead),
    limiter = ports.limiter,
    addSecrets = (data) => data,
  }: Options = {},
) =>
  apiHandler(route, { ...ports, authenticate, limiter }, useCase, async (data, context) =>
    context.isReplay && (await isErased(data, context.tenant))
      ? refusals.erasedConversation
      : addSecrets(data, context),
  );

const isConversationErased = isErasedConversation(tables.service);

/** Whether a replayed response is about a conversation that was erased since. */
function isErased(data: unknown, tenant: Tenant): Promise<boolean> {
  const { id, conversationId = id } = Object(data);
  return isConversationErased(tenant, ConversationId.safeParse(conversationId).data);
}
