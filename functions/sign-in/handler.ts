import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type * as z from 'zod/mini';
import { problem, unavailable } from '../domain/problem.ts';
import type { Log } from '../platform/log-codes.ts';
import type { Logging } from '../platform/logger.ts';
import { cookieOf, isFromPageOf } from '../platform/pipeline/browser.ts';
import { isTransient } from '../platform/pipeline/failure.ts';
import { requestIdOf, traceOf } from '../platform/pipeline/request.ts';
import { parseBody } from '../platform/pipeline/validation.ts';
import { problemResult, type Reply, successResult } from '../platform/reply.ts';
import type { CookieName } from './cookies.ts';
import type { SignInRoute } from './routes.ts';

/** What a use case of the sign-in is given of a request. */
interface SignInRequest<R extends SignInRoute> {
  body: R['body'] extends z.ZodMiniType ? z.output<R['body']> : undefined;
  /** The value of a cookie of the browser, when there is exactly one. */
  cookie(name: CookieName): string | undefined;
  now: Date;
  log: Log;
}

/** @returns the answer, and the cookies that it sets, in this order */
export type SignInUseCase<R extends SignInRoute> = (
  request: SignInRequest<R>,
) => Promise<{ reply: Reply; cookies?: readonly string[] }>;

export interface SignInPorts {
  /** Origin of the dashboard, whose pages alone may call; without one nobody can sign in. */
  dashboardOrigin: string | undefined;
  logger: Logging;
  /** Counts a request that ends as nobody meant it to. */
  onFailure(): void;
  /** Writes the metrics of the request, which ends. */
  publishMetrics(): Promise<void>;
  now: () => Date;
}

/**
 * Makes the handler of a route of the sign-in: nobody calls it whom the service knows yet, so that there is no organization, no budget and no
 * idempotency; the gateway limits how often. Everything needs the dashboard's `Origin`, and a body is JSON, so that a page of anybody else changes
 * nothing here (docs/decisions/0016-dashboard.md). Whatever is thrown becomes a 500 or 503 that says nothing of the inside.
 */
export function signInHandler<R extends SignInRoute>(
  route: R,
  { dashboardOrigin, logger, onFailure, publishMetrics, now }: SignInPorts,
  useCase: SignInUseCase<R>,
) {
  const { log } = logger;

  async function answerTo(
    event: APIGatewayProxyEvent,
  ): Promise<{ reply: Reply; cookies?: readonly string[] }> {
    // Not 503, which would ring an alarm whenever somebody tries.
    if (dashboardOrigin === undefined)
      return {
        reply: problem(
          'NOT_FOUND',
          'Nobody can sign in here: the deployment has no dashboard (dashboardOrigin).',
        ),
      };
    if (!isFromPageOf(event, dashboardOrigin))
      return { reply: problem('PERMISSION_DENIED', 'Sign-in is for pages of the dashboard alone (Origin).') };
    const body = parseBody(event, route);
    if (!body.ok) return { reply: body.problem };
    const request = {
      body: body.value,
      cookie: (name) => cookieOf(event, name),
      now: now(),
      log,
    } as SignInRequest<R>;
    return useCase(request);
  }

  function resultOf(event: APIGatewayProxyEvent, reply: Reply): APIGatewayProxyResult {
    const requestId = requestIdOf(event);
    if (reply.kind === 'problem') return problemResult(reply, requestId, {});
    return successResult(200, { ...reply, data: route.data.parse(reply.data) }, requestId, {});
  }

  async function serve(event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> {
    try {
      const { reply, cookies = [] } = await answerTo(event);
      const result = resultOf(event, reply);
      return cookies.length === 0 ? result : { ...result, multiValueHeaders: { 'Set-Cookie': [...cookies] } };
    } catch (error) {
      const transient = isTransient(error);
      log(transient ? 'DEPENDENCY_UNAVAILABLE' : 'REQUEST_FAILED', { error });
      onFailure();
      return resultOf(
        event,
        transient ? unavailable() : problem('INTERNAL_ERROR', 'Something went wrong on our side.'),
      );
    }
  }

  return async (event: APIGatewayProxyEvent, context: Context): Promise<APIGatewayProxyResult> => {
    logger.begin(context);
    logger.add({ requestId: requestIdOf(event), route: route.name, traceId: traceOf(event) });
    const result = await serve(event);
    log('REQUEST_ANSWERED', { status: result.statusCode });
    await Promise.all([publishMetrics(), logger.written()]);
    return result;
  };
}
