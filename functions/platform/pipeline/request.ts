import type { APIGatewayProxyEvent } from 'aws-lambda';
import type * as z from 'zod/mini';
import { type ConversationId, parseTraceId } from '../../domain/ids.ts';
import { type Problem, unavailable } from '../../domain/problem.ts';
import type { Role, Session, Tenant } from '../../domain/tenant.ts';
import type { Reply, Success } from '../reply.ts';
import type { Route } from '../route.ts';

/** What the refusal of a change means: a problem, or something to do about it. */
export type Refusals = Partial<Record<string, Problem | (() => Promise<Reply>)>>;

/** What a use case is given of a request: authenticated, parsed, and no more of the gateway's event. */
export interface ApiRequest<R extends Route, Change> {
  /** The effective organization; nothing else says whose data this is. */
  tenant: Tenant;
  /** Of a visitor: the one conversation that it is about. */
  conversationId: R extends { readonly visitor: true } ? ConversationId : undefined;
  /** Of a person, where nobody else may call. */
  session: R extends { readonly role: Role } ? Session : undefined;
  params: z.output<R['params']>;
  query: z.output<R['query']>;
  body: R['body'] extends z.ZodMiniType ? z.output<R['body']> : undefined;
  now: Date;
  /** Goes with all that the request causes. */
  traceId: string;
  /**
   * Commits the request's effect together with its idempotency record, and gives the reply to answer:
   * `reply`, or the first reply when another request with the same key was faster, or the problem that a
   * refused change stands for.
   */
  effect(reply: Success, changes: readonly Change[], refusals?: Refusals): Promise<Reply>;
}

/**
 * What a route does. All that it changes goes through `effect`; a repeated request runs it again up to there.
 */
export type UseCase<R extends Route, Change> = (request: ApiRequest<R, Change>) => Promise<Reply>;

/**
 * The id by which gateway, access log, functions and client name one request. A client cannot choose this
 * one.
 */
export const getRequestId = (event: APIGatewayProxyEvent): string =>
  event.requestContext.extendedRequestId ?? event.requestContext.requestId;

/** What the logs of all that the request causes have in common. */
export const getTraceId = (event: APIGatewayProxyEvent): string =>
  parseTraceId(header(event, 'x-amzn-trace-id'), getRequestId(event));

/** Header names are case-insensitive (RFC 9110, 5.1), but the gateway passes them on as they were sent. */
export function header(event: APIGatewayProxyEvent, name: string): string | undefined {
  const wanted = name.toLowerCase();
  return Object.entries(event.headers ?? {}).find(([key]) => key.toLowerCase() === wanted)?.[1];
}

/** Each time that one is used up, another request has got its way. */
const ATTEMPTS = 4;

/**
 * Runs an attempt that reads an item, decides by it and commits on the condition that it is still so. Where
 * it is not, the attempt asks for another one, which reads again: what is decided then is decided by what is
 * there.
 * @returns the reply of the last attempt, or 503 when the item was changed under each of four
 */
export async function retryOnConflict(
  attempt: (again: () => Promise<Reply>) => Promise<Reply>,
  left = ATTEMPTS,
): Promise<Reply> {
  return left === 0 ? unavailable() : attempt(() => retryOnConflict(attempt, left - 1));
}
