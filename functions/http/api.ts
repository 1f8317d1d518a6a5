import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { Defect } from '../aws/logger.ts';
import { hasScope, type Scope } from '../tenancy/api-key.ts';
import type { OrganizationState, Tenant, Tier } from '../tenancy/tenant.ts';
import { type Authenticate, buildLocation, type Caller, unauthenticated } from './authentication.ts';
import { buildEffect, type EffectPorts, replyOnce } from './effect.ts';
import { type IdempotentRequest, parseIdempotencyKey } from './idempotency.ts';
import { type CapacityMeter, endRequest, observed, type RequestPorts } from './lifecycle.ts';
import type { Charge, RateLimiter } from './limiter.ts';
import { isProblem, type Problem, problem } from './problem.ts';
import { buildQuotaHeaders, computeTokens } from './rate-limit.ts';
import { problemResult, type Reply, successResult } from './reply.ts';
import { type ApiRequest, getRequestId, getTraceId, type UseCase } from './request.ts';
import { buildDeprecationHeaders, type Deprecation, type Route } from './route.ts';
import { checkHeaders, parseBody, parseQuery } from './validation.ts';

export interface ApiPorts<Change> extends RequestPorts, EffectPorts<Change> {
  authenticate: Authenticate;
  /** The caller's organization, up to some seconds old. */
  organization(
    id: Tenant['orgId'],
    now: Date,
  ): Promise<Pick<OrganizationState, 'tier' | 'environment'> | undefined>;
  limiter: RateLimiter;
  capacity: CapacityMeter;
  /** Counts a failed rate limiter, for an alarm: requests pass meanwhile. */
  onLimiterFailure(): void;
}

/**
 * Adds data that is never stored to a response.
 * @returns the data, or a problem when the response must not be repeated
 */
export type Reveal = (data: unknown, context: { tenant: Tenant | undefined; isReplay: boolean }) => unknown;

/** Results of the middlewares; each adds its part before the use case runs. */
interface RequestState {
  caller?: Caller;
  /** Absent when the rate limiter failed. */
  charge?: Charge;
  input?: { params: Record<string, string>; query: object; body: unknown };
  once?: IdempotentRequest | undefined;
}

type ApiEvent = APIGatewayProxyEvent & { established?: RequestState };
type Stage = middy.MiddlewareObj<ApiEvent, APIGatewayProxyResult, Error, Context>;

/**
 * Creates the handler of one route: authenticates, parses, runs the use case, whose effect commits with the
 * idempotency key, and builds the response. Errors become a 500 or 503 without internals.
 * @param reveal adds data that is never stored, to first responses and replays alike, or refuses a replay
 */
export function apiHandler<R extends Route, Change>(
  route: R,
  ports: ApiPorts<Change>,
  useCase: UseCase<R, Change>,
  reveal: Reveal = (data) => data,
) {
  const { logger, authenticate, organization, limiter, capacity, now } = ports;
  const { log } = logger;

  /** A hook that returns a result ends the pipeline. */
  const answer = async (event: ApiEvent, reply: Reply): Promise<APIGatewayProxyResult> => {
    await correctCharge(event);
    const result = await buildResult(event, reply);
    endRequest(ports, result);
    return result;
  };

  /** @returns undefined when the limiter fails: requests pass then */
  const allowOnLimiterFailure = (charging: Promise<Charge>): Promise<Charge | undefined> =>
    charging.catch((error: unknown) => {
      log('RATE_LIMITER_FAILED', { error });
      ports.onLimiterFailure();
      return undefined;
    });

  /** Charges the consumed capacity. Awaited, because Lambda freezes an instance after its response. */
  async function correctCharge(event: ApiEvent): Promise<void> {
    const charge = event.established?.charge;
    if (!charge?.allowed) return;
    const corrected = await allowOnLimiterFailure(
      limiter.correct(charge, computeTokens(capacity.consumed())),
    );
    if (corrected !== undefined) event.established = { ...event.established, charge: corrected };
  }

  const buildResult = async (event: ApiEvent, reply: Reply): Promise<APIGatewayProxyResult> => {
    const requestId = getRequestId(event);
    const charge = event.established?.charge;
    const headers = {
      ...buildDeprecationHeaders(route.deprecation),
      ...crossOriginHeaders(route),
      ...(charge && buildQuotaHeaders(charge)),
    };
    if (reply.kind === 'problem') return problemResult(reply, requestId, headers);
    const revealed = await reveal(reply.data, {
      tenant: event.established?.caller?.tenant,
      isReplay: reply.replayed === true,
    });
    if (isProblem(revealed)) return problemResult(revealed, requestId, headers);
    const data = route.success.status === 204 ? undefined : route.success.data.parse(revealed);
    const { location } = reply;
    const created = location === undefined ? {} : { location: buildLocation(event, route, location) };
    return successResult(
      reply.status ?? route.success.status,
      { ...reply, ...created, data },
      requestId,
      headers,
    );
  };

  const metered: Stage = {
    before: () => capacity.begin(),
  };

  const served: Stage = {
    before: ({ event }) => {
      const sunset = checkSunset(route.deprecation, now());
      if (sunset) return answer(event, sunset);
    },
  };

  const authenticated: Stage = {
    before: async ({ event }) => {
      const repeated = checkHeaders(event);
      if (repeated) return answer(event, repeated);
      const caller = await authenticate(event, route);
      if ('kind' in caller) return answer(event, caller);
      event.established = { caller };
      logger.add({ orgId: caller.tenant.orgId, ...caller.logged });
    },
  };

  /** Undefined for a sandbox: only sandbox keys act for one, and their tier is set. */
  async function findLiveTier({ bucket }: Caller, at: Date): Promise<Tier | undefined> {
    const known = await organization(bucket.orgId, at);
    if (known?.environment === 'live') return known.tier;
    log('CALLER_NOT_LIVE', { orgId: bucket.orgId });
    return undefined;
  }

  /** Before the permission check: refused calls use up the budget as well. */
  const limited: Stage = {
    before: async ({ event }) => {
      const { caller } = completeState(event, 'caller');
      const at = now();
      const tier = caller.tier ?? (await findLiveTier(caller, at));
      if (tier === undefined)
        return answer(event, unauthenticated(caller.bucket.kind === 'dashboard' ? 'session' : 'key'));
      const charging = allowOnLimiterFailure(
        limiter.take(caller.bucket, tier, at, estimateTokens(event, route)),
      );
      // Independent, so in parallel.
      const [charge] = await Promise.all([charging, caller.noteUse?.(at)]);
      if (charge === undefined) return;
      event.established = { ...event.established, charge };
      if (!charge.allowed)
        return answer(
          event,
          problem('RATE_LIMITED', 'Too many requests. Retry after the number of seconds in Retry-After.'),
        );
    },
  };

  const permitted: Stage = {
    before: ({ event }) => {
      const { denied } = completeState(event, 'caller').caller;
      if (denied) return answer(event, denied);
    },
  };

  const parsed: Stage = {
    before: async ({ event }) => {
      const params = route.params.safeParse(event.pathParameters ?? {});
      // A malformed id is answered like one that does not exist.
      if (!params.success)
        return answer(
          event,
          route.success.status === 204
            ? { kind: 'success', data: undefined }
            : problem('NOT_FOUND', 'No such resource.'),
        );
      const query = parseQuery(event, route);
      if (!query.ok) return answer(event, query.problem);
      const body = parseBody(event, route);
      if (!body.ok) return answer(event, body.problem);
      event.established = {
        ...event.established,
        input: { params: params.data, query: query.value, body: body.value },
      };
    },
  };

  const once: Stage = {
    before: ({ event }) => {
      const { caller, input } = completeState(event, 'caller', 'input');
      const found = parseIdempotencyKey(event, route, caller.tenant, input);
      if (found === undefined) return;
      if ('kind' in found) return answer(event, found);
      event.established = { ...event.established, once: found };
    },
  };

  return middy<ApiEvent, APIGatewayProxyResult, Error, Context>()
    .use(metered)
    .use(observed(ports, route, answer))
    .use(served)
    .use(authenticated)
    .use(limited)
    .use(permitted)
    .use(parsed)
    .use(once)
    .handler(async (event: ApiEvent) => {
      const { caller, input } = completeState(event, 'caller', 'input');
      const at = now();
      const request = {
        tenant: caller.tenant,
        conversationId: caller.conversationId,
        allows: (scope: Scope) => caller.scopes === undefined || hasScope(caller.scopes, scope),
        session: caller.session,
        rowAhead: caller.rowAhead,
        ...input,
        now: at,
        traceId: getTraceId(event),
        effect: buildEffect(route, ports, {
          caller,
          requestId: getRequestId(event),
          once: event.established?.once,
          now: at,
        }),
      } as ApiRequest<R, Change>;
      const reply = await useCase(request);
      const known = event.established?.once;
      return answer(
        event,
        reply.kind === 'problem' && known ? await replyOnce(ports.memory, known, at, reply) : reply,
      );
    });
}

/** Tokens charged before a request runs, by its parameters; one token when these are refused later. */
function estimateTokens(event: APIGatewayProxyEvent, route: Route): number {
  if (route.tokens === undefined) return 1;
  const query = parseQuery(event, route);
  return query.ok ? route.tokens(query.value) : 1;
}

/** @throws when a required middleware did not run (a defect) */
function completeState<K extends keyof RequestState>(
  { established = {} }: ApiEvent,
  ...parts: K[]
): Required<Pick<RequestState, K>> {
  if (parts.some((part) => established[part] === undefined))
    throw new Defect('the pipeline ran out of order');
  return established as Required<Pick<RequestState, K>>;
}

const checkSunset = (deprecation: Deprecation | undefined, now: Date): Problem | undefined =>
  deprecation !== undefined && now >= new Date(deprecation.sunset)
    ? problem(
        'GONE',
        'This operation is no longer available. See the migration guide in the Link header, if present.',
      )
    : undefined;

/**
 * CORS headers for pages of any site (Fetch standard, CORS protocol). Visitors call from customers' pages
 * with a token in a header, which browsers do not send by themselves.
 */
const crossOriginHeaders = ({ visitor }: Pick<Route, 'visitor'>): Record<string, string> =>
  visitor
    ? {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Expose-Headers': 'RateLimit, RateLimit-Policy, Request-Id, Retry-After',
      }
    : {};
