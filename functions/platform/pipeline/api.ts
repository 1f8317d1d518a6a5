import type { Logger } from '@aws-lambda-powertools/logger';
import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { type Problem, problem, unavailable } from '../../domain/problem.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { problemResult, type Reply, type Success, successResult } from '../reply.ts';
import type { Route } from '../route.ts';
import { authenticate, type Keys } from './authentication.ts';
import { isTransient } from './failure.ts';
import { type Memory, type Once, onceOf, remember, replay } from './idempotency.ts';
import { type ApiRequest, requestIdOf, type UseCase } from './request.ts';
import { parseBody, parseQuery } from './validation.ts';

/** Commits all changes or none. */
export type CommitEffect<Change> = (
  changes: readonly Change[],
) => Promise<{ kind: 'committed' } | { kind: 'refused'; refusal: string }>;

export interface ApiPorts<Change> {
  keys: Keys;
  memory: Memory<Change>;
  commit: CommitEffect<Change>;
  logger: Logger;
  now: () => Date;
}

/** What the middlewares have established; each adds its part to the event before the use case runs. */
interface Established {
  tenant?: Tenant;
  input?: { params: Record<string, string>; query: object; body: unknown };
  once?: Once | undefined;
}

type Arriving = APIGatewayProxyEvent & { established?: Established };
type Stage = middy.MiddlewareObj<Arriving, APIGatewayProxyResult, Error, Context>;

/**
 * Makes the handler of one route: authenticates, parses, runs the use case, whose effect commits with the request's
 * idempotency key, and puts the reply into the envelope. Whatever is thrown becomes a 500 or 503 that says nothing of the inside.
 * @param reveal completes an answer's data with what is never stored, on first answers and replays alike
 */
export function apiHandler<R extends Route, Change>(
  route: R,
  ports: ApiPorts<Change>,
  useCase: UseCase<R, Change>,
  reveal: (data: unknown) => unknown = (data) => data,
) {
  const { logger, keys, memory, commit, now } = ports;

  /** A hook that returns a result ends the pipeline there. */
  const answer = async (event: Arriving, reply: Reply): Promise<APIGatewayProxyResult> => {
    const requestId = requestIdOf(event);
    if (reply.kind === 'problem') return problemResult(reply, requestId);
    const data =
      route.success.status === 204 ? undefined : route.success.data.parse(await reveal(reply.data));
    return successResult(route.success.status, { ...reply, data }, requestId);
  };

  const observed: Stage = {
    before: ({ event, context }) => {
      // The logger outlives the request: without this, lines would name the organization and key of an earlier one.
      logger.resetKeys();
      logger.addContext(context);
      logger.appendKeys({ requestId: requestIdOf(event), route: route.name });
    },
    onError: ({ event, error }) => {
      const transient = isTransient(error);
      logger.error(transient ? 'a dependency is unavailable' : 'the request failed', error as Error);
      const reply = transient
        ? unavailable()
        : problem('INTERNAL_ERROR', 'Something went wrong on our side.');
      return problemResult(reply, requestIdOf(event));
    },
  };

  const authenticated: Stage = {
    before: async ({ event }) => {
      const caller = await authenticate(event, route.scope, keys);
      if (!caller.ok) return answer(event, caller.problem);
      event.established = { tenant: caller.tenant };
      logger.appendKeys({ orgId: caller.tenant.orgId, keyId: caller.key.id });
    },
  };

  const parsed: Stage = {
    before: async ({ event }) => {
      const params = route.params.safeParse(event.pathParameters ?? {});
      // An identifier of another form than ours names nothing, like one of ours that does not exist.
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
      const { tenant, input } = complete(event);
      const found = onceOf(event, route, tenant, input);
      if (found === undefined) return;
      if ('kind' in found) return answer(event, found);
      event.established = { ...event.established, once: found };
    },
  };

  return middy<Arriving, APIGatewayProxyResult, Error, Context>()
    .use(observed)
    .use(authenticated)
    .use(parsed)
    .use(once)
    .handler(async (event: Arriving) => {
      const { tenant, input } = complete(event);
      const at = now();
      const request = {
        tenant,
        ...input,
        now: at,
        effect: effectOf(route, { memory, commit }, event.established?.once, at),
      } as ApiRequest<R, Change>;
      const reply = await useCase(request);
      const known = event.established?.once;
      return answer(
        event,
        reply.kind === 'problem' && known ? await firstReply(memory, known, at, reply) : reply,
      );
    });
}

/** @throws when a middleware that must have run did not, which is a defect */
function complete(event: Arriving): Required<Pick<Established, 'tenant' | 'input'>> {
  const { tenant, input } = event.established ?? {};
  if (tenant === undefined || input === undefined) throw new Error('the pipeline ran out of order');
  return { tenant, input };
}

/**
 * A repeated key is met by the transaction that records it, so that a first request pays no read for it. Where the use case
 * refuses before it commits, the reason may have come after the first request: then what was answered first counts.
 */
async function firstReply<Change>(
  memory: Memory<Change>,
  { scope, fingerprint }: Once,
  now: Date,
  refusal: Problem,
): Promise<Reply> {
  const first = await memory.find(scope, now);
  return first ? replay(first, fingerprint) : refusal;
}

function effectOf<Change>(
  route: Route,
  { memory, commit }: Pick<ApiPorts<Change>, 'memory' | 'commit'>,
  once: Once | undefined,
  now: Date,
): ApiRequest<Route, Change>['effect'] {
  return async (
    reply: Success,
    changes: readonly Change[],
    refusals: Partial<Record<string, Problem>> = {},
  ) => {
    const guard = once
      ? [memory.record(once.scope, remember(once.fingerprint, route.success.status, reply), now)]
      : [];
    // The record goes first: of several refused conditions the first one is the answer.
    const result = await commit([...guard, ...changes]);
    if (result.kind === 'committed') return reply;
    if (result.refusal === 'idempotency-key-used' && once) {
      const first = await memory.find(once.scope, now);
      return first
        ? replay(first, once.fingerprint)
        : problem('CONFLICT', 'A request with this Idempotency-Key is being processed.');
    }
    const refused = refusals[result.refusal];
    if (refused) return refused;
    throw new Error(`the effect of ${route.name} was refused: ${result.refusal}`);
  };
}
