import { assign, attributes, expression } from '../aws/expression.ts';
import { deriveEventId, EndpointId, type TraceId, withTrace } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import { Defect } from '../aws/logger.ts';
import { API_TIMEOUT_SECONDS } from '../aws/pages.ts';
import { isFree, isHeld, type Table } from '../aws/table.ts';
import { buildUpdate, type Change, Contended, committer } from '../aws/transaction.ts';
import { createReceiverNotice } from '../events/bus.ts';
import { buildEvent } from '../events/events.ts';
import { buildEndpointChange, computeEndpointEffect, type EndpointEffect } from '../receivers/endpoint.ts';
import { readEndpoint } from '../receivers/endpoints.ts';
import { createStatusEntry, recordAuditEntry } from '../tenancy/audit.ts';
import { buildCurrentCondition } from '../tenancy/organizations.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import {
  type AttemptError,
  type AttemptErrorCode,
  type AttemptRecord,
  type AttemptResult,
  type ClaimedDelivery,
  type DeliveryMessage,
  LOST_OUTCOME,
  type NextRetryReason,
  SIMULATED,
  type TerminalReason,
} from './delivery.ts';
import { chooseWaitMode, type Lane, type WaitMode } from './lanes.ts';
import { outboxStore } from './outbox.ts';
import { isFirstDelivery, recordSuccess } from './redelivery.ts';
import {
  buildOpenUpdate,
  buildPlace,
  type Claimability,
  type DeliveryUpdate,
  DUE_FIELDS,
  parseDelivery,
  REMOVE_ENDED,
  updateDelivery,
} from './rows.ts';
import { parseRetryAfter, type RetryPolicy, scheduleNextAttempt } from './timing.ts';

/** How the wait for the next attempt is spent, and the queue of that attempt. */
export interface Wait {
  hold: WaitMode;
  lane: Lane;
}

/** What an attempt changes in its delivery. `at` is the end of the attempt. */
export type Settlement = { at: Date } & (
  | { kind: 'succeeded'; attempt: AttemptRecord; terminalReason?: TerminalReason }
  | {
      kind: 'retrying';
      attempt: FailedAttempt;
      nextRetryAt: Date;
      nextRetryReason?: NextRetryReason;
      wait: Wait;
    }
  | { kind: 'exhausted'; attempt: FailedAttempt; terminalReason: TerminalReason }
);
type FailedAttempt = AttemptRecord & AttemptError;

/**
 * Computes what a finished attempt changes in its delivery. An attempt without `error` succeeded.
 * @param number of the attempt, from 1, as the claim counted it
 * @param route queue of the attempt, queue of the next one, and whether the latter is crowded
 */
export function computeSettlement(
  number: number,
  result: AttemptResult,
  policy: RetryPolicy,
  route: { from: Lane; to: Lane; crowded: boolean },
): Settlement {
  const { endedAt: at, simulated } = result;
  const record = toAttemptRecord(number, result);
  if (result.error === undefined)
    return { kind: 'succeeded', attempt: record, ...(simulated && { terminalReason: SIMULATED }), at };
  const attempt = { ...record, error: result.error, errorCode: result.errorCode };
  if (number >= policy.maxAttempts) return { kind: 'exhausted', attempt, terminalReason: 'max_attempts', at };
  const backoff = scheduleNextAttempt(number, at, policy);
  const held = result.retryAfter === undefined ? undefined : parseRetryAfter(result.retryAfter, at);
  const isHeld = held !== undefined && held > backoff;
  const nextRetryAt = isHeld ? held : backoff;
  const seconds = (nextRetryAt.getTime() - at.getTime()) / 1000;
  const hold = chooseWaitMode(seconds, route.from, route.to, route.crowded);
  return {
    kind: 'retrying',
    attempt,
    at,
    nextRetryAt,
    ...(isHeld && { nextRetryReason: 'retry_after' }),
    wait: { hold, lane: route.to },
  };
}

function toAttemptRecord(number: number, result: AttemptResult): AttemptRecord {
  const { startedAt, endedAt, status, response, simulated } = result;
  return {
    number,
    startedAt: startedAt.toISOString(),
    durationMs: Math.max(0, endedAt.getTime() - startedAt.getTime()),
    ...(status !== undefined && { status }),
    ...(response !== undefined && response !== '' && { response }),
    ...(simulated && Buffer.byteLength(simulated.body) <= KEPT_BODY_BYTES && { request: simulated }),
  };
}

/**
 * Maximum size of a body kept with each of 8 attempts: a row has at most 400 KB, and messages for channels
 * can be longer.
 */
const KEPT_BODY_BYTES = 32_768;

/** What happens to the queue message of a delivery. */
export type MessageDisposition =
  | { kind: 'delete' }
  /** It stays in its queue, invisible until `until`. */
  | { kind: 'keep'; until: Date }
  /** A copy is sent with a delay, and this one is deleted. */
  | { kind: 'move'; lane: Lane; until: Date };

/**
 * Decides what happens to the queue message. A message exists as long as its delivery waits in a queue; it is
 * deleted for an open delivery only when the due index has that delivery.
 */
export function decideDisposition(
  outcome: Exclude<Claimability, { kind: 'claimable' | 'spent' }> | Settlement,
): MessageDisposition {
  switch (outcome.kind) {
    case 'leased':
      return { kind: 'keep', until: outcome.until };
    case 'not-due':
      return outcome.parked ? { kind: 'delete' } : { kind: 'keep', until: outcome.at };
    case 'retrying': {
      const { wait, nextRetryAt: until } = outcome;
      if (wait.hold === 'parked') return { kind: 'delete' };
      return wait.hold === 'hidden' ? { kind: 'keep', until } : { kind: 'move', lane: wait.lane, until };
    }
    case 'absent':
    case 'terminal':
    case 'succeeded':
    case 'exhausted':
      return { kind: 'delete' };
  }
}

/** Records an attempt while the claim's lease holds. */
function buildSettleUpdate(
  claimed: ClaimedDelivery,
  settlement: Settlement,
  graceSeconds: number,
): DeliveryUpdate {
  const { attempt, kind, at } = settlement;
  const removes = ['lease'];
  const set: Record<string, unknown> = { status: kind };
  if (kind !== 'succeeded')
    Object.assign(set, { lastError: attempt.error, lastErrorCode: attempt.errorCode });
  if (attempt.status !== undefined) set.lastResponseStatus = attempt.status;
  // The last attempt got no answer, so an earlier status no longer applies.
  else removes.push('lastResponseStatus');
  if (kind === 'retrying') {
    // Keep `isDeferred`: the reconciler removes it when it sends the message.
    const { nextRetryAt, nextRetryReason, wait } = settlement;
    set.nextRetryAt = nextRetryAt.toISOString();
    if (nextRetryReason !== undefined) set.nextRetryReason = nextRetryReason;
    else if (claimed.nextRetryReason !== undefined) removes.push('nextRetryReason');
    if (claimed.turn !== undefined) removes.push('turn');
    const isParked = wait.hold === 'parked';
    if (isParked) set.parked = true;
    else removes.push('parked');
    const dueAt = isParked ? nextRetryAt : new Date(nextRetryAt.getTime() + graceSeconds * 1000);
    Object.assign(set, buildPlace(isParked ? 'parked' : 'watched', claimed, dueAt));
  } else {
    Object.assign(set, { terminalAt: at.toISOString(), terminalReason: settlement.terminalReason });
    removes.push('nextRetryAt', ...DUE_FIELDS);
  }
  return buildOpenUpdate(
    claimed,
    expression`SET ${assign(set)}, attemptLog = list_append(attemptLog, ${[attempt]}) REMOVE ${attributes(removes)}`,
    [isHeld(claimed.lease), expression`lease.#until > ${at.getTime()}`],
    (row) => parseDelivery(row).attemptLog.some(({ number }) => number === attempt.number),
  );
}

/** A delivery's end, for its endpoint. */
interface Ending {
  as: 'succeeded' | 'exhausted';
  at: Date;
  traceId: TraceId;
  lastError?: string | undefined;
  lastErrorCode?: AttemptErrorCode | undefined;
  extraChanges?: readonly Change[];
}

/** What an endpoint's change is to the others of its organization, which may subscribe to it. */
const STATE_EVENTS = {
  warn: 'webhook.failing',
  disable: 'webhook.disabled',
  recover: 'webhook.recovered',
} as const;

/** Of deliveries that end at one endpoint at once. */
const MAX_TRIES = 20;

/**
 * Writes how attempts end: the delivery, and what that means for its endpoint, in one transaction.
 * @param graceSeconds seconds past due after which a delivery's message counts as lost
 * @param commitSeconds timeout of the function
 */
export function settlements(
  { deliveries, service, outbox }: Record<'deliveries' | 'service' | 'outbox', Table>,
  {
    graceSeconds,
    maxAttempts,
    commitSeconds,
    measures,
    log,
  }: {
    graceSeconds: number;
    maxAttempts: number;
    commitSeconds: number;
    measures: { disabled(): void };
    log: Log;
  },
) {
  const commit = committer(service.client);
  const findEndpoint = readEndpoint(service);
  const entries = outboxStore(outbox);

  /**
   * Ends a delivery. The endpoint is read after the attempt, so a success resets every failure that was
   * counted before, and read again when it changes between the read and the write.
   */
  async function end(
    message: DeliveryMessage,
    change: DeliveryUpdate,
    ending: Ending,
  ): Promise<'done' | 'refused'> {
    const { orgId, webhookId, generation } = message;
    const { as, traceId, extraChanges = [] } = ending;
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const effect = computeEndpointEffect(await findEndpoint(orgId, webhookId), as);
      if (effect === 'none' && extraChanges.length === 0) return updateDelivery(deliveries, change);
      const { key, isDone: _, ...terms } = change;
      const result = await commit([
        buildUpdate(deliveries, key, { refusal: 'lease-lost', ...terms }),
        ...extraChanges,
        ...buildEffect(effect, message, ending),
        ...buildCurrentCondition(service, { orgId, generation }),
      ]).catch((error: unknown) => {
        // Deliveries that end together contend for their endpoint: after the first, it may differ.
        if (error instanceof Contended) return { kind: 'refused', refusal: 'endpoint-changed' } as const;
        throw error;
      });
      if (result.kind === 'committed') {
        if (effect !== 'disable') return 'done';
        measures.disabled();
        log('ENDPOINT_DISABLED', { webhookId, orgId, traceId });
        return 'done';
      }
      if (result.refusal !== 'endpoint-changed') return 'refused';
    }
    throw new Defect(`endpoint ${webhookId} changed ${MAX_TRIES} times while a delivery to it was ending`);
  }

  /**
   * An event that is committed until the function's timeout. Followers rely on the shorter timeout of a
   * route's function, so its id has a time that is later by the difference (docs/architecture.md, Followed
   * lists).
   */
  function appendEvent(
    type: (typeof STATE_EVENTS)[keyof typeof STATE_EVENTS],
    webhookId: EndpointId,
    context: { tenant: Tenant; now: Date; traceId?: TraceId },
  ): Change {
    const idTime = new Date(context.now.getTime() + (commitSeconds - API_TIMEOUT_SECONDS) * 1000);
    const id = deriveEventId(type, webhookId, idTime);
    return entries.append(buildEvent(type, { webhookId }, { ...context, id }));
  }

  /**
   * The endpoint's change, its entry in the audit log, the notice for admins, and the event for the
   * organization's other endpoints, which there is none of for a channel.
   */
  function buildEffect(
    effect: EndpointEffect,
    { orgId, generation, webhookId }: DeliveryMessage,
    { at, traceId, lastError = '', lastErrorCode }: Ending,
  ): Change[] {
    if (effect === 'none') return [];
    const endpoint = { orgId, id: webhookId };
    const change = buildEndpointChange(service, endpoint, effect, at);
    if (effect === 'reset' || effect === 'count') return [change];
    const context = { tenant: { orgId, generation }, now: at, ...withTrace(traceId) };
    const type = STATE_EVENTS[effect];
    const { data: about } = EndpointId.safeParse(webhookId);
    const changes = [change, ...(about === undefined ? [] : [appendEvent(type, about, context)])];
    if (type === 'webhook.recovered') return changes;
    const failing = { webhookId, lastError, ...(lastErrorCode && { lastErrorCode }) };
    const notice = entries.appendNotice(createReceiverNotice(type, failing, context));
    if (type === 'webhook.failing') return [...changes, notice];
    const entry = createStatusEntry(endpoint, 'disabled', { type: 'service' }, at);
    return [...changes, notice, recordAuditEntry(service, entry)];
  }

  return {
    /** Records an attempt's result. Refused when the lease is lost. */
    async settle(
      claimed: ClaimedDelivery,
      settlement: Settlement,
      traceId: TraceId,
    ): Promise<'done' | 'refused'> {
      const { kind: as, at, attempt } = settlement;
      const change = buildSettleUpdate(claimed, settlement, graceSeconds);
      if (as === 'retrying') return updateDelivery(deliveries, change);
      const extraChanges =
        as === 'succeeded' && !isFirstDelivery(claimed) ? [recordSuccess(service, claimed)] : [];
      const { error: lastError, errorCode: lastErrorCode } = attempt;
      return end(claimed, change, { as, at, traceId, lastError, lastErrorCode, extraChanges });
    },

    /** Ends a delivery whose last attempt was started and never settled. */
    exhaust(message: DeliveryMessage, at: Date, traceId: TraceId): Promise<'done' | 'refused'> {
      const terminalAt = at.toISOString();
      const { error: lastError, errorCode: lastErrorCode } = LOST_OUTCOME;
      const set = {
        status: 'exhausted',
        terminalAt,
        terminalReason: 'max_attempts',
        lastError,
        lastErrorCode,
      };
      const change = buildOpenUpdate(
        message,
        expression`SET ${assign(set)} ${REMOVE_ENDED}`,
        [isFree(at), expression`attempts >= ${maxAttempts}`],
        (row) => row.terminalAt === terminalAt,
      );
      return end(message, change, { as: 'exhausted', at, traceId, lastError, lastErrorCode });
    },
  };
}
