import { memoizeFor } from '../domain/cache.ts';
import { tableClient } from '../platform/clients/clients.ts';
import { ApiEnvironment, rateLimits, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { RATE_LIMITER_FAILURES } from '../platform/metric-names.ts';
import { count } from '../platform/metrics.ts';
import { type ApiPorts, apiHandler, type Reveal } from '../platform/pipeline/api.ts';
import {
  authenticateByMode,
  keyAuthentication,
  keyUseRecorder,
} from '../platform/pipeline/authentication.ts';
import { meterCapacity, requestPorts } from '../platform/pipeline/lifecycle.ts';
import { rateLimiter } from '../platform/pipeline/rate-limit.ts';
import type { ReadAhead } from '../platform/pipeline/read-ahead.ts';
import type { UseCase } from '../platform/pipeline/request.ts';
import type { Route } from '../platform/route.ts';
import { openTables } from '../platform/tables.ts';
import { apiKeyStore, keyUseStore } from '../store/api-keys.ts';
import { recordAuditEntry } from '../store/audit-log.ts';
import { idempotencyStore } from '../store/idempotency.ts';
import { readOrganizationState, readPairing } from '../store/organizations.ts';
import { rateWindowStore } from '../store/rate-windows.ts';
import { type Change, committer } from '../store/transaction.ts';

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
