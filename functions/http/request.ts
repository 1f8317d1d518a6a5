import type { APIGatewayProxyEvent } from 'aws-lambda';
import type * as z from 'zod/mini';
import { type ConversationId, parseTraceId } from '../aws/ids.ts';
import type { Scope } from '../tenancy/api-key.ts';
import type { AuditAction, AuditChange } from '../tenancy/audit.ts';
import type { Role, Session, Tenant } from '../tenancy/tenant.ts';
import { type Problem, unavailable } from './problem.ts';
import type { Reply, Success } from './reply.ts';
import type { Route } from './route.ts';

/** Response to a refused change: a problem, or a function that handles it. */
type Refusals = Partial<Record<string, Problem | (() => Promise<Reply>)>>;

/** What a request changes in the set-up: one entry of the audit log. */
export interface SetupEffect {
  /** Id of the changed thing. */
  id: string;
  changes: readonly AuditChange[];
  /** Where it is not the route's own action. */
  action?: AuditAction;
}

/**
 * Commits the effect with the idempotency record and returns the response: `reply`, the first response of a
 * concurrent request with the same key, or the problem of a refused change.
 */
export type Effect<Change> = (
  reply: Success,
  changes: readonly Change[],
  refusals?: Refusals,
) => Promise<Reply>;

/** As `Effect`, with the entries of the audit log. */
export type AuditedEffect<Change> = (
  reply: Success,
  changes: readonly Change[],
  audited: SetupEffect | readonly [SetupEffect, ...SetupEffect[]],
  refusals?: Refusals,
) => Promise<Reply>;

export interface ApiRequest<R extends Route, Change> {
  /** The effective tenant. */
  tenant: Tenant;
  conversationId: R extends { readonly visitor: true } ? ConversationId : undefined;
  /** Whether the caller may do what a scope allows, beyond the route's own. A session may. */
  allows(scope: Scope): boolean;
  /** The user, on routes for sessions only. */
  session: R extends { readonly role: Role } ? Session : undefined;
  params: z.output<R['params']>;
  query: z.output<R['query']>;
  body: R['body'] extends z.ZodMiniType ? z.output<R['body']> : undefined;
  now: Date;
  /** Row of the tenant that was read with the caller's key, on a route that reads one ahead (`readAhead`). */
  rowAhead: Readonly<Record<string, unknown>> | undefined;
  /** Trace of everything that the request causes. */
  traceId: string;
  /** Commits the effect. A route with an action of the audit log passes what it changes. */
  effect: R extends { readonly audit: AuditAction } ? AuditedEffect<Change> : Effect<Change>;
}

/** The logic of a route. All writes go through `effect`; a repeated request runs it again up to there. */
export type UseCase<R extends Route, Change> = (request: ApiRequest<R, Change>) => Promise<Reply>;

/** Id of the request in gateway, access log, functions and response. Clients cannot choose it. */
export const getRequestId = (event: APIGatewayProxyEvent): string =>
  event.requestContext.extendedRequestId ?? event.requestContext.requestId;

/** Trace of everything that the request causes. */
export const getTraceId = (event: APIGatewayProxyEvent): string =>
  parseTraceId(header(event, 'x-amzn-trace-id'), getRequestId(event));

/** Header names are case-insensitive (RFC 9110, 5.1), and the gateway passes them on as sent. */
export function header(event: APIGatewayProxyEvent, name: string): string | undefined {
  const wanted = name.toLowerCase();
  return Object.entries(event.headers ?? {}).find(([key]) => key.toLowerCase() === wanted)?.[1];
}

/** An attempt fails only when another request has succeeded, so a few are enough. */
const ATTEMPTS = 4;

/**
 * Runs an attempt that reads an item and commits on condition that it did not change; on a conflict it runs
 * again with a new read.
 * @returns the response of the last attempt, or 503 after four conflicts
 */
export async function retryOnConflict(
  attempt: (again: () => Promise<Reply>) => Promise<Reply>,
  left = ATTEMPTS,
): Promise<Reply> {
  return left === 0 ? unavailable() : attempt(() => retryOnConflict(attempt, left - 1));
}
