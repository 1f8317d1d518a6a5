import { createHash } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { expression } from '../aws/expression.ts';
import { Defect } from '../aws/logger.ts';
import { get, type Table, toExpiry } from '../aws/table.ts';
import { buildPut, type Change, type Commit, type Refusal } from '../aws/transaction.ts';
import { type AuditAction, type AuditChange, type AuditEntry, createAuditEntry } from '../tenancy/audit.ts';
import { buildSandboxMark, keys } from '../tenancy/keys.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import type { Caller } from './authentication.ts';
import { header } from './lifecycle.ts';
import { invalid, type Problem, refusals } from './problem.ts';
import type { Reply, Success } from './reply.ts';
import type { Route } from './route.ts';

/** An organization's data and one route, for a visitor in one conversation. */
export interface IdempotencyScope {
  tenant: Tenant;
  route: string;
  key: string;
}

/**
 * The response to a request with an idempotency key, kept for 24 hours (docs/specification.md, Idempotency).
 */
export const IdempotencyRecord = z.object({
  /** Identifies the request: the caller may not use the key for another one. */
  fingerprint: z.string(),
  status: z.int(),
  location: z.optional(z.string()),
  /** `data` of the response as JSON, without secrets: a replay derives them again. */
  data: z.string(),
});
export type IdempotencyRecord = z.infer<typeof IdempotencyRecord>;

export function idempotencyStore(service: Table) {
  return {
    async find({ tenant, route, key }: IdempotencyScope, now: Date): Promise<IdempotencyRecord | undefined> {
      const row = await get(service, keys.idempotency(tenant, route, key));
      // DynamoDB deletes expired items within days.
      return row && Number(row.expiresAt) > now.getTime() / 1000 ? IdempotencyRecord.parse(row) : undefined;
    },

    /** Commits in one transaction with the request's effect, so that a crash leaves both or neither. */
    record({ tenant, route, key }: IdempotencyScope, record: IdempotencyRecord, now: Date): Change {
      const row = {
        ...keys.idempotency(tenant, route, key),
        ...buildSandboxMark(tenant),
        ...record,
        expiresAt: toExpiry(now, 1),
      };
      return buildPut(service, row, {
        refusal: 'idempotency-key-used',
        if: expression`attribute_not_exists(pk) OR expiresAt <= ${Math.floor(now.getTime() / 1000)}`,
      });
    },
  };
}

/** Bare, or as a string of a structured field (RFC 9651; draft-ietf-httpapi-idempotency-key-header). */
const Key = z.string().check(z.regex(/^("?)[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\1$/i));

/** Parses `Idempotency-Key`. Undefined when the route or the request has none. */
export function parseIdempotencyKey(
  event: APIGatewayProxyEvent,
  route: Route,
  { tenant, conversationId }: Pick<Caller, 'tenant' | 'conversationId'>,
  input: { params: object; body: unknown },
): { scope: IdempotencyScope; fingerprint: string } | Problem | undefined {
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
    // Visitors choose keys independently of each other.
    scope: {
      tenant,
      route: [route.name, ...(conversationId ? [conversationId] : [])].join('#'),
      key: String(key).replaceAll('"', '').toLowerCase(),
    },
    fingerprint: createHash('sha256')
      .update(JSON.stringify([input.params, input.body ?? null]))
      .digest('hex'),
  };
}

/** Each a problem, or a function that handles the refusal. */
type Refused<P extends Problem> = Partial<Record<Refusal, P | (() => Promise<Reply<P>>)>>;

/** What a request changes in the set-up: one entry of the audit log. */
interface SetupEffect {
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
export type Effect<P extends Problem = Problem> = (
  reply: Success,
  changes: readonly Change[],
  refused?: Refused<P>,
) => Promise<Reply<P>>;

/** As `Effect`, with the entries of the audit log. */
export type AuditedEffect<P extends Problem = Problem> = (
  reply: Success,
  changes: readonly Change[],
  audited: SetupEffect | readonly [SetupEffect, ...SetupEffect[]],
  refused?: Refused<P>,
) => Promise<Reply<P>>;

export interface EffectPorts {
  idempotency: ReturnType<typeof idempotencyStore>;
  commit: Commit;
  recordAuditEntry(entry: AuditEntry): Change;
}

type IdempotentRequest = Exclude<ReturnType<typeof parseIdempotencyKey>, Problem | undefined>;

/** Builds the effect of a request: on a route with an action, it writes entries of the audit log as well. */
export function buildEffect(
  route: Route,
  { idempotency, commit, recordAuditEntry }: EffectPorts,
  cause: { caller: Caller; requestId: string; once: IdempotentRequest | undefined; now: Date },
): Effect | AuditedEffect {
  const { caller, requestId, once, now } = cause;
  const effect: Effect = async (reply, changes, refused = {}) => {
    const { data, location, status = route.success.status } = reply;
    const record = once && {
      fingerprint: once.fingerprint,
      status,
      data: JSON.stringify(data ?? null),
      ...(location === undefined ? {} : { location }),
    };
    const guard = once && record ? [idempotency.record(once.scope, record, now)] : [];
    // DynamoDB refuses an empty transaction.
    if (guard.length + changes.length === 0) return reply;
    // The record comes first: of several failed conditions the first one decides.
    const result = await commit([...guard, ...changes]);
    if (result.kind === 'committed') return reply;
    if (result.refusal === 'idempotency-key-used' && once)
      return replayFirst(idempotency, once, now, refusals.keyInUse);
    const refusal = refused[result.refusal];
    if (refusal) return typeof refusal === 'function' ? refusal() : refusal;
    throw new Defect(`the effect of ${route.name} was refused: ${result.refusal}`);
  };

  const { audit } = route;
  if (audit === undefined || audit === 'none') return effect;
  return (reply, changes, audited, refused) => {
    const { actor, tenant } = caller;
    if (actor === undefined) throw new Defect(`${route.name} has no actor to record`);
    const entries = [audited].flat().map(({ id, action = audit, changes: fields }: SetupEffect) => {
      const change = { orgId: tenant.orgId, action, targetId: id, requestId, changes: fields };
      return recordAuditEntry(createAuditEntry(change, actor, now));
    });
    return effect(reply, [...changes, ...entries], refused);
  };
}

/**
 * Returns the first response to a key. The transaction that records a key detects its repetition, so that a
 * first request pays no read.
 * @returns `refusal` when there is none
 */
export async function replayFirst(
  idempotency: Pick<EffectPorts['idempotency'], 'find'>,
  { scope, fingerprint }: IdempotentRequest,
  now: Date,
  refusal: Problem,
): Promise<Reply> {
  const first = await idempotency.find(scope, now);
  if (first === undefined) return refusal;
  if (first.fingerprint !== fingerprint) return refusals.keyReused;
  const { data, status, location } = first;
  return {
    kind: 'success',
    data: JSON.parse(data),
    status,
    replayed: true,
    ...(location === undefined ? {} : { location }),
  };
}
