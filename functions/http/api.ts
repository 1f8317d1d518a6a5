import type { APIGatewayProxyEvent } from 'aws-lambda';
import type * as z from 'zod/mini';
import type { ConversationId, OrgId } from '../aws/ids.ts';
import type { Logging } from '../aws/logger.ts';
import { count, RATE_LIMITER_FAILURES } from '../aws/metrics.ts';
import { hasScope, type Scope } from '../tenancy/api-keys.ts';
import type { AuditAction } from '../tenancy/audit.ts';
import { type Kept, keys } from '../tenancy/keys.ts';
import type { OrganizationState, Role, Session, Tenant, Tier } from '../tenancy/tenant.ts';
import { type Authenticate, buildLocation, type Caller } from './authentication.ts';
import {
  type AuditedEffect,
  buildEffect,
  type Effect,
  type EffectPorts,
  parseIdempotencyKey,
  replayFirst,
} from './idempotency.ts';
import { gatewayHandler, getRequestId, getTraceId, type Headers, type meterCapacity } from './lifecycle.ts';
import type { Charge, RateLimiter } from './limiter.ts';
import { isProblem, type Problem, refusals } from './problem.ts';
import { buildQuotaHeaders, computeTokens } from './rate-limit.ts';
import { type Reply, type Success, success } from './reply.ts';
import { NO_FIELDS, type RefusalOf, type Route } from './route.ts';
import { findRepeatedHeaders, parseBody, parseQuery } from './validation.ts';

export interface ApiPorts extends EffectPorts {
  logger: Logging;
  now: () => Date;
  authenticate: Authenticate;
  /** The caller's organization, up to some seconds old. */
  organization(id: OrgId, now: Date): Promise<Pick<OrganizationState, 'tier' | 'environment'> | undefined>;
  limiter: RateLimiter;
  capacity: ReturnType<typeof meterCapacity>;
}

export interface ApiRequest<R extends Route> {
  /** The effective tenant. */
  tenant: Tenant;
  conversationId: R extends { readonly visitor: true } ? ConversationId : undefined;
  /** Whether the caller may do what a scope allows, beyond the route's own. A session may. */
  allows(scope: Scope): boolean;
  session: R extends { readonly role: Role } ? Session : undefined;
  params: Parsed<R['params']>;
  query: Parsed<R['query']>;
  body: Parsed<R['body']>;
  now: Date;
  /** Row of the tenant that was read with the caller's key, on a route that reads one ahead. */
  rowAhead: Readonly<Record<string, unknown>> | undefined;
  /** Trace of everything that the request causes. */
  traceId: string;
  /** The place of the kept response, for rows that are erased with it. Empty without an idempotency key. */
  kept: Kept;
  /** Commits the effect. A route with an action of the audit log passes what it changes. */
  effect: R extends { readonly audit: AuditAction } ? AuditedEffect<RefusalOf<R>> : Effect<RefusalOf<R>>;
}

type Parsed<Schema> = Schema extends z.ZodMiniType ? z.output<Schema> : undefined;

/** The logic of a route. All writes go through `effect`; a repeated request runs it again up to there. */
export type UseCase<R extends Route> = (request: ApiRequest<R>) => Promise<Reply<RefusalOf<R>>>;

/** Adds data that is never stored, to first responses and replays alike, or refuses a replay. */
export type AddSecrets = (data: unknown, context: { tenant: Tenant; isReplay: boolean }) => unknown;

/**
 * Creates the handler of one route. Repeats of a request with an idempotency key have one effect, because it
 * commits with the key.
 */
export function apiHandler<R extends Route>(
  route: R,
  ports: ApiPorts,
  useCase: UseCase<R>,
  addSecrets: AddSecrets = (data) => data,
) {
  const { logger, authenticate, organization, limiter, capacity, now } = ports;

  async function handleRequest(event: APIGatewayProxyEvent, headers: Headers): Promise<Reply> {
    const at = now();
    let charge: Charge | undefined;
    capacity.begin();
    try {
      if (route.deprecation && at >= new Date(route.deprecation.sunset)) return refusals.shutDown;
      const repeated = findRepeatedHeaders(event);
      if (repeated) return repeated;

      const caller = await authenticate(event, route);
      if (isProblem(caller)) return caller;
      logger.add({ orgId: caller.tenant.orgId, ...caller.logged });

      const tier = caller.tier ?? (await findLiveTier(caller, at));
      if (tier === undefined)
        return caller.bucket.kind === 'dashboard' ? refusals.missingSession : refusals.missingKey;
      const charging = passOnFailure(limiter.take(caller.bucket, tier, at, estimateTokens(event, route)));
      [charge] = await Promise.all([charging, caller.noteUse?.(at)]);
      if (charge?.allowed === false) return refusals.tooManyRequests;
      // After the charge: refused calls use up the budget as well.
      if (caller.denied) return caller.denied;

      const input = parseInput(event, route);
      if ('kind' in input) return input;
      const once = parseIdempotencyKey(event, route, caller, input);
      if (isProblem(once)) return once;

      const cause = { caller, requestId: getRequestId(event), once, now: at };
      const reply: Reply = await useCase({
        tenant: caller.tenant,
        conversationId: caller.conversationId,
        session: caller.session,
        rowAhead: caller.rowAhead,
        ...input,
        allows: (scope) => caller.scopes === undefined || hasScope(caller.scopes, scope),
        now: at,
        traceId: getTraceId(event),
        kept: once
          ? { keptAs: keys.idempotency(once.scope.tenant, once.scope.route, once.scope.key).pk }
          : {},
        effect: buildEffect(route, ports, cause),
      } as ApiRequest<R>);
      const replayed =
        isProblem(reply) && once ? await replayFirst(ports.idempotency, once, at, reply) : reply;
      return isProblem(replayed) ? replayed : await complete(event, replayed, caller);
    } finally {
      charge = await correctCharge(charge);
      Object.assign(headers, charge && buildQuotaHeaders(charge));
    }
  }

  /** Undefined for a sandbox: only sandbox keys act for one, and their tier is set. */
  async function findLiveTier({ bucket }: Caller, at: Date): Promise<Tier | undefined> {
    const state = await organization(bucket.orgId, at);
    if (state?.environment === 'live') return state.tier;
    logger.log('CALLER_NOT_LIVE', { orgId: bucket.orgId });
    return undefined;
  }

  /** @returns undefined when the limiter fails: requests pass then */
  const passOnFailure = (charging: Promise<Charge>): Promise<Charge | undefined> =>
    charging.catch((error: unknown) => {
      logger.log('RATE_LIMITER_FAILED', { error });
      count(RATE_LIMITER_FAILURES);
      return undefined;
    });

  /** Charges the consumed capacity. Awaited, because Lambda freezes an instance after its response. */
  async function correctCharge(charge: Charge | undefined): Promise<Charge | undefined> {
    if (!charge?.allowed) return charge;
    return (await passOnFailure(limiter.correct(charge, computeTokens(capacity.consumed())))) ?? charge;
  }

  /** Adds what is not stored, and leaves out what the route does not declare. */
  async function complete(event: APIGatewayProxyEvent, reply: Success, { tenant }: Caller): Promise<Reply> {
    const data = await addSecrets(reply.data, { tenant, isReplay: reply.replayed === true });
    if (isProblem(data)) return data;
    return {
      ...reply,
      ...(reply.location === undefined ? {} : { location: buildLocation(event, route, reply.location) }),
      status: reply.status ?? route.success.status,
      data: route.success.status === 204 ? undefined : route.success.data.parse(data),
    };
  }

  return gatewayHandler(route, handleRequest, logger);
}

/** Tokens charged before a request runs, by its parameters; one token when these are refused later. */
function estimateTokens(event: APIGatewayProxyEvent, route: Route): number {
  if (route.tokens === undefined) return 1;
  const query = parseQuery(event, route);
  return query.ok ? route.tokens(query.value) : 1;
}

/** Parses path, query and body, in this order; a malformed id is answered like one that does not exist. */
function parseInput(event: APIGatewayProxyEvent, route: Route) {
  const params = (route.params ?? NO_FIELDS).safeParse(event.pathParameters ?? {});
  if (!params.success)
    return route.success.status === 204 ? success(undefined, { status: 204 }) : refusals.malformedId;
  const query = parseQuery(event, route);
  if (!query.ok) return query.problem;
  const body = parseBody(event, route);
  return body.ok ? { params: params.data, query: query.value, body: body.value } : body.problem;
}

/**
 * Runs an attempt that reads an item and commits on condition that it did not change; on a conflict it runs
 * again with a new read. An attempt fails only when another request has succeeded, so a few are enough.
 * @returns the response of the last attempt, or 503 after four conflicts
 */
export async function retryOnConflict<P extends Problem>(
  attempt: (again: () => Promise<Reply<P | typeof refusals.busy>>) => Promise<Reply<P>>,
  left = 4,
): Promise<Reply<P | typeof refusals.busy>> {
  return left === 0 ? refusals.busy : attempt(() => retryOnConflict(attempt, left - 1));
}
