import { memoizeFor } from '../aws/cache.ts';
import { openTables, tableClient } from '../aws/clients.ts';
import { ApiEnvironment, readEnvironment } from '../aws/config.ts';
import { logger } from '../aws/logger.ts';
import { count, RATE_LIMITER_FAILURES } from '../aws/metrics.ts';
import { type Change, committer } from '../aws/transaction.ts';
import { type ApiPorts, apiHandler, type Reveal } from '../http/api.ts';
import { authenticateByMode, keyAuthentication, keyUseRecorder } from '../http/authentication.ts';
import { idempotencyStore } from '../http/idempotency-records.ts';
import { meterCapacity, requestPorts } from '../http/lifecycle.ts';
import { rateLimiter } from '../http/limiter.ts';
import { rateLimits } from '../http/rate-limit.ts';
import { rateWindowStore } from '../http/rate-windows.ts';
import type { ReadAhead } from '../http/read-ahead.ts';
import type { UseCase } from '../http/request.ts';
import type { Route } from '../http/route.ts';
import { apiKeyStore, keyUseStore } from '../tenancy/api-keys.ts';
import { recordAuditEntry } from '../tenancy/audit-log.ts';
import { readOrganizationState, readPairing } from '../tenancy/organizations.ts';

/*
 * Shared by all route handlers: environment, clients, and the pipeline with its ports.
 */

export const environment = readEnvironment(ApiEnvironment);
const client = tableClient();
const capacity = meterCapacity(client);

export const tables = openTables(environment, client);

/** An organization's cached tier. */
const TIERS = { capacity: 1000, freshMs: 30_000 };

/** Ports of the pipeline, without authentication. */
export const ports: Omit<ApiPorts<Change>, 'authenticate'> = {
  ...requestPorts,
  organization: memoizeFor(readOrganizationState(tables.service), TIERS),
  limiter: rateLimiter(rateWindowStore(tables.rates), rateLimits(environment)),
  capacity,
  onLimiterFailure: () => count(RATE_LIMITER_FAILURES),
  memory: idempotencyStore(tables.service),
  commit: committer(client),
  recordAuditEntry: (entry) => recordAuditEntry(tables.service, entry),
};
const findSandbox = readPairing(tables.service);
const keys = {
  find: apiKeyStore(tables.service).find,
  noteUse: keyUseRecorder(keyUseStore(tables.rates), logger.log),
};
const buildAuthentication = (ahead?: ReadAhead) =>
  authenticateByMode({
    keys: keyAuthentication(keys, findSandbox, logger.log, ahead),
    // A separate file of the bundle (lib/cloud/bundle.ts), loaded with the first session.
    sessions: async () => (await import('./sessions.ts')).authenticate,
    findSandbox,
  });

/**
 * Creates the Lambda handler of a public route.
 * @param reveal adds data that is never stored, or refuses a replay
 */
export const routeHandler = <R extends Route>(route: R, useCase: UseCase<R, Change>, reveal?: Reveal) =>
  apiHandler(route, { ...ports, authenticate: buildAuthentication() }, useCase, reveal);

/** Creates the Lambda handler of a public route that reads a row with the caller's key. */
export const readAheadRouteHandler = <R extends Route>(
  route: R,
  ahead: ReadAhead,
  useCase: UseCase<R, Change>,
) => apiHandler(route, { ...ports, authenticate: buildAuthentication(ahead) }, useCase);
