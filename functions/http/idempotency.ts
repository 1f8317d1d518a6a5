import { createHash } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import type { Tenant } from '../tenancy/tenant.ts';
import { invalid, type Problem, problem } from './problem.ts';
import type { Reply, Success } from './reply.ts';
import { header } from './request.ts';
import type { Route } from './route.ts';

/** A stored response (docs/specification.md, Idempotency). */
export interface StoredReply {
  fingerprint: string;
  status: number;
  location?: string | undefined;
  data: string;
}

export interface IdempotencyScope {
  tenant: Tenant;
  route: string;
  key: string;
}

/** Stores responses. `Change` is a write that commits with the effect. */
export interface IdempotencyStore<Change> {
  find(scope: IdempotencyScope, now: Date): Promise<StoredReply | undefined>;
  record(scope: IdempotencyScope, remembered: StoredReply, now: Date): Change;
}

export interface IdempotentRequest {
  scope: IdempotencyScope;
  fingerprint: string;
}

/** Bare, or as a string of a structured field (RFC 9651; draft-ietf-httpapi-idempotency-key-header). */
const Key = z.string().check(z.regex(/^("?)[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\1$/i));

/** Parses `Idempotency-Key`. Undefined when the route or the request has none. */
export function parseIdempotencyKey(
  event: APIGatewayProxyEvent,
  route: Route,
  tenant: Tenant,
  input: { params: object; body: unknown },
): IdempotentRequest | Problem | undefined {
  const key = header(event, 'idempotency-key');
  if (route.idempotency === undefined) return undefined;
  if (key === undefined && route.idempotency === 'honoured') return undefined;
  if (!Key.safeParse(key).success)
    return invalid({
      field: 'Idempotency-Key',
      code: key === undefined ? 'required' : 'invalid_format',
      message: key === undefined ? 'is required: a UUID' : 'must be a UUID',
    });
  return {
    scope: { tenant, route: route.name, key: String(key).replaceAll('"', '').toLowerCase() },
    fingerprint: createHash('sha256')
      .update(JSON.stringify([input.params, input.body ?? null]))
      .digest('hex'),
  };
}

/** Response to a request with a stored key. */
export function replay(stored: StoredReply, fingerprint: string): Reply {
  if (stored.fingerprint !== fingerprint)
    return problem(
      'IDEMPOTENCY_KEY_REUSED',
      'The Idempotency-Key was already used with a different request. Use a new key.',
    );
  const { data, status, location } = stored;
  return {
    kind: 'success',
    data: JSON.parse(data),
    status,
    replayed: true,
    ...(location === undefined ? {} : { location }),
  };
}

export const toStoredReply = (
  fingerprint: string,
  status: number,
  { data, location }: Success,
): StoredReply => ({
  fingerprint,
  status,
  data: JSON.stringify(data ?? null),
  ...(location === undefined ? {} : { location }),
});
