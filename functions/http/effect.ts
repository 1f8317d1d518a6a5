import { Defect } from '../aws/logger.ts';
import { type AuditEntry, createAuditEntry } from '../tenancy/audit.ts';
import type { Caller } from './authentication.ts';
import { type IdempotencyStore, type IdempotentRequest, replay, toStoredReply } from './idempotency.ts';
import { type Problem, problem } from './problem.ts';
import type { Reply, Success } from './reply.ts';
import type { AuditedEffect, Effect, SetupEffect } from './request.ts';
import type { Route } from './route.ts';

type CommitEffect<Change> = (
  changes: readonly Change[],
) => Promise<{ kind: 'committed' } | { kind: 'refused'; refusal: string }>;

export interface EffectPorts<Change> {
  memory: IdempotencyStore<Change>;
  commit: CommitEffect<Change>;
  /** The write that adds an entry to the audit log. */
  recordAuditEntry(entry: AuditEntry): Change;
}

/** The request that has the effect. */
interface Cause {
  caller: Caller;
  requestId: string;
  once: IdempotentRequest | undefined;
  now: Date;
}

/**
 * The transaction that records a key detects its repetition, so that a first request pays no read. When the
 * use case refuses before it commits, an earlier response of the same key counts.
 */
export async function replyOnce<Change>(
  memory: IdempotencyStore<Change>,
  { scope, fingerprint }: IdempotentRequest,
  now: Date,
  refusal: Problem,
): Promise<Reply> {
  const first = await memory.find(scope, now);
  return first ? replay(first, fingerprint) : refusal;
}

/** Builds the effect of a request: on a route with an action, it writes entries of the audit log as well. */
export function buildEffect<Change>(
  route: Route,
  ports: EffectPorts<Change>,
  cause: Cause,
): Effect<Change> | AuditedEffect<Change> {
  const effect = buildDataEffect(route, ports, cause);
  const { audit } = route;
  if (audit === undefined || audit === 'none') return effect;
  const { caller, requestId, now } = cause;
  return (reply, changes, audited, refusals) => {
    const { actor, tenant } = caller;
    if (actor === undefined) throw new Defect(`${route.name} has no actor to record`);
    const entries = [audited].flat().map(({ id, action = audit, changes: fields }: SetupEffect) => {
      const change = { orgId: tenant.orgId, action, targetId: id, requestId, changes: fields };
      return ports.recordAuditEntry(createAuditEntry(change, actor, now));
    });
    return effect(reply, [...changes, ...entries], refusals);
  };
}

function buildDataEffect<Change>(
  route: Route,
  { memory, commit }: EffectPorts<Change>,
  { once, now }: Cause,
): Effect<Change> {
  return async (reply: Success, changes, refusals = {}) => {
    const guard = once
      ? [
          memory.record(
            once.scope,
            toStoredReply(once.fingerprint, reply.status ?? route.success.status, reply),
            now,
          ),
        ]
      : [];
    // DynamoDB refuses an empty transaction.
    if (guard.length + changes.length === 0) return reply;
    // The record comes first: of several failed conditions the first one decides.
    const result = await commit([...guard, ...changes]);
    if (result.kind === 'committed') return reply;
    if (result.refusal === 'idempotency-key-used' && once) {
      const first = await memory.find(once.scope, now);
      return first
        ? replay(first, once.fingerprint)
        : problem('CONFLICT', 'A request with this Idempotency-Key is being processed.');
    }
    const refused = refusals[result.refusal];
    if (refused) return typeof refused === 'function' ? refused() : refused;
    throw new Defect(`the effect of ${route.name} was refused: ${result.refusal}`);
  };
}
