import { type OrgId, type ReceiverId, type TraceId, withTrace } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import { Defect } from '../aws/logger.ts';
import { isFor, type OutboxEvent } from '../events/events.ts';
import { type AttemptError, LOST_OUTCOME } from '../receivers/attempt-error.ts';
import { computeEndpointEffect, type Endpoint, type EndpointOutcome } from '../receivers/endpoint.ts';
import { isSandbox } from '../tenancy/tenant.ts';
import {
  type ClaimedDelivery,
  type ClaimResult,
  computeSettlement,
  type Delivery,
  type DeliveryMessage,
  type DeliveryRef,
  decideDisposition,
  getClaimability,
  type MessageDisposition,
  type MoveResult,
  type SendAttempt,
  type Settlement,
  type SkipReason,
} from './delivery.ts';
import { endpointPaces, type PaceMarks } from './endpoint-pace.ts';
import type { TurnOutcome } from './endpoint-turns.ts';
import { chooseRetryLane, findBetterLane, isBatched, type Lane } from './lanes.ts';
import { isFirstDelivery, isRequestedByCustomer } from './redelivery.ts';
import { getRetryPolicy } from './simulation.ts';
import type { RetryPolicy } from './timing.ts';

export interface AttemptPorts {
  deliveries: {
    find(ref: DeliveryRef): Promise<Delivery | undefined>;
    claim(
      ref: DeliveryRef,
      terms: { now: Date; leaseSeconds: number; maxAttempts: number },
    ): Promise<ClaimResult>;
    settle(claimed: ClaimedDelivery, settlement: Settlement, outcome: EndpointOutcome): Promise<MoveResult>;
    exhaust(
      ref: DeliveryRef,
      failure: AttemptError,
      maxAttempts: number,
      outcome: EndpointOutcome,
    ): Promise<MoveResult>;
    skip(ref: DeliveryRef, reason: SkipReason, now: Date): Promise<'done' | 'refused'>;
  };
  endpoints: PaceMarks & { find(orgId: OrgId, id: ReceiverId): Promise<Endpoint | undefined> };
  queues: {
    /** Whether a queue is near its limit of messages in flight. */
    crowded(lane: Lane): Promise<boolean>;
  };
  /**
   * Gets all that an attempt needs, such as the signing key. Called before a claim, because a claim counts as
   * an attempt.
   */
  prepare(deliveryMessage: DeliveryMessage, endpoint: Endpoint): Promise<SendAttempt>;
  /** Asks for the turn of an attempt at an endpoint with a limit. */
  takeTurn(limited: { message: DeliveryMessage; maxPerSecond: number; lane: Lane }): Promise<TurnOutcome>;
  measures: AttemptMetrics;
  log: Log;
  now: () => Date;
  wait(seconds: number): Promise<unknown>;
}

/** Measurements of a recorded attempt. Durations in milliseconds. */
export interface AttemptMeasurement {
  outcome: Settlement['kind'];
  parked: boolean;
  /** From the due time to the attempt's start; 0 at an endpoint with a limit. */
  lateMs: number;
  /**
   * From the commit of the event to the attempt's start and end. Live deliveries only, without redeliveries
   * and endpoints with a limit.
   */
  sinceCommitMs?: { first: boolean; begun: number; ended: number };
}

export interface AttemptMetrics {
  attempt(made: AttemptMeasurement): void;
  /** An endpoint was disabled by failures. */
  disabled(): void;
}

/** Of deliveries that end at one endpoint at once. */
const MAX_TRIES = 20;

export interface AttemptSettings {
  retry: RetryPolicy;
  leaseSeconds: number;
  /** A receiver's deadline. */
  attemptSeconds: number;
}

/** Rows that a message names, read for the whole batch. */
export interface AttemptContext {
  endpoint: Endpoint | undefined;
  event: OutboxEvent | undefined;
}

/**
 * Processes one message of the current generation and returns what happens to the message. Lost, repeated or
 * late messages change no outcome: conditional writes on the delivery decide.
 */
export function attemptDelivery(
  ports: AttemptPorts,
  { retry, leaseSeconds, attemptSeconds }: AttemptSettings,
) {
  const { deliveries, endpoints, queues, prepare, takeTurn, measures, log, now, wait } = ports;
  const { maxAttempts } = retry;
  const paces = endpointPaces({ marks: endpoints, log, now }, attemptSeconds);

  /** Another worker changed the delivery: its current state decides about the message. */
  async function recheck(ref: DeliveryRef): Promise<MessageDisposition> {
    const claimability = getClaimability(await deliveries.find(ref), now(), maxAttempts);
    if (claimability.kind === 'claimable' || claimability.kind === 'spent')
      return decideDisposition({ kind: 'overtaken', until: now() });
    return decideDisposition(claimability);
  }

  async function skip(ref: DeliveryRef, reason: SkipReason): Promise<MessageDisposition> {
    const result = await deliveries.skip(ref, reason, now());
    return result === 'done' ? decideDisposition({ kind: 'skipped' }) : recheck(ref);
  }

  /**
   * Writes a delivery's end with its effect on the count of consecutive failures. The endpoint is read after
   * the attempt, so a success resets every failure that was counted before, and read again when it changes
   * between the read and the write.
   */
  async function end(
    { orgId, webhookId }: DeliveryMessage,
    ended: 'succeeded' | 'exhausted',
    { at, traceId }: { at: Date; traceId: TraceId },
    write: (outcome: EndpointOutcome) => Promise<MoveResult>,
  ): Promise<MoveResult> {
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const endpoint = await endpoints.find(orgId, webhookId);
      const effect = computeEndpointEffect(endpoint, ended);
      const { consecutiveFailures } = endpoint ?? {};
      const seen = {
        orgId,
        id: webhookId,
        ...(consecutiveFailures !== undefined && { consecutiveFailures }),
      };
      const result = await write({ endpoint: seen, effect, at, ...withTrace(traceId) });
      if (result === 'done' && effect === 'disable') {
        measures.disabled();
        log('ENDPOINT_DISABLED', { webhookId, orgId, traceId });
      }
      if (result !== 'endpoint-changed') return result;
    }
    throw new Defect(`endpoint ${webhookId} changed ${MAX_TRIES} times while a delivery to it was ending`);
  }

  /** Records an attempt with its effect on the endpoint. */
  async function settle(
    claimed: ClaimedDelivery,
    settlement: Settlement,
    endpoint: Endpoint,
    traceId: TraceId,
  ): Promise<MoveResult> {
    const { kind, at } = settlement;
    if (kind === 'retrying') return deliveries.settle(claimed, settlement, { endpoint, effect: 'none', at });
    return end(claimed, kind, { at, traceId }, (outcome) => deliveries.settle(claimed, settlement, outcome));
  }

  /**
   * Chooses the queue of the next attempt in case this one fails. A queue that cannot be read counts as
   * crowded.
   */
  async function chooseRoute(endpoint: Endpoint, from: Lane, failed: boolean) {
    const to = chooseRetryLane(paces.of(endpoint));
    return { from, to, crowded: failed && (await queues.crowded(to).catch(() => true)) };
  }

  async function deliver(
    deliveryMessage: DeliveryMessage,
    claimed: ClaimedDelivery,
    { endpoint, event, lane }: { endpoint: Endpoint; event: OutboxEvent; lane: Lane },
    send: SendAttempt,
  ): Promise<MessageDisposition> {
    const startedAt = now();
    const traceId = getTrace(deliveryMessage, { event, claimed });
    const timer = paces.watch(endpoint, traceId);
    const result = await send(claimed, event, timer.onSlow);
    const endedAt = now();
    const elapsedSeconds = (endedAt.getTime() - startedAt.getTime()) / 1000;
    timer.onEnd(result, elapsedSeconds);
    const route = await chooseRoute(endpoint, lane, result.error !== undefined);
    const settlement = computeSettlement(
      claimed.attempts,
      { ...result, startedAt, endedAt },
      getRetryPolicy(retry, claimed, endpoint.url),
      route,
    );
    const settled = await settle(claimed, settlement, endpoint, traceId);
    await timer.done();
    const { status, error: reason } = result;
    const fields = {
      deliveryId: claimed.id,
      webhookId: endpoint.id,
      orgId: claimed.orgId,
      attempt: claimed.attempts,
      status,
      traceId,
    };
    if (settled !== 'done') {
      log('ATTEMPT_OUTLIVED', { ...fields, reason });
      return recheck(claimed);
    }
    measures.attempt(
      toMeasurement(claimed, event, settlement, {
        startedAt,
        lane,
        isLimited: endpoint.maxPerSecond !== undefined,
      }),
    );
    // Success is in the row; a log line per success would cost more than the attempt's writes.
    if (settlement.kind === 'succeeded') log('ATTEMPT_SUCCEEDED', fields);
    else log('ATTEMPT_FAILED', { ...fields, outcome: settlement.kind, reason });
    return decideDisposition(settlement);
  }

  return async (
    deliveryMessage: DeliveryMessage,
    { endpoint, event }: AttemptContext,
    lane: Lane,
  ): Promise<MessageDisposition> => {
    if (endpoint === undefined) return skip(deliveryMessage, 'endpoint_deleted');
    if (endpoint.status === 'auto_disabled') return skip(deliveryMessage, 'endpoint_disabled');
    if (event === undefined) {
      log('EVENT_MISSING', {
        deliveryId: deliveryMessage.id,
        eventId: deliveryMessage.eventId,
        traceId: deliveryMessage.traceId,
      });
      return skip(deliveryMessage, 'event_missing');
    }
    if (!isFor(event, endpoint)) return skip(deliveryMessage, 'not_subscribed');
    const pace = paces.of(endpoint);
    const other = findBetterLane(
      lane,
      pace,
      pace === 'stalled' && isRequestedByCustomer(deliveryMessage, event),
    );
    if (other !== undefined) return { kind: 'move', lane: other, until: now() };

    const send = await prepare(deliveryMessage, endpoint);
    let most = maxAttempts;
    if (endpoint.maxPerSecond !== undefined) {
      const given = await takeTurn({ message: deliveryMessage, maxPerSecond: endpoint.maxPerSecond, lane });
      if (given.kind === 'wait') return given.disposition;
      // A turn is for one attempt.
      most = Math.min(maxAttempts, given.attempts + 1);
      const ms = given.at - now().getTime();
      if (ms > 0) await wait(ms / 1000);
    }
    const claim = await deliveries.claim(deliveryMessage, {
      now: now(),
      leaseSeconds,
      maxAttempts: most,
    });
    if (claim.kind === 'claimed')
      return deliver(deliveryMessage, claim.delivery, { endpoint, event, lane }, send);
    if (claim.kind !== 'spent') return decideDisposition(claim);

    const traceId = getTrace(deliveryMessage, { event });
    const ended = await end(deliveryMessage, 'exhausted', { at: now(), traceId }, (outcome) =>
      deliveries.exhaust(deliveryMessage, LOST_OUTCOME, maxAttempts, outcome),
    );
    return ended === 'done' ? decideDisposition({ kind: 'terminal' }) : recheck(deliveryMessage);
  };
}

/** A redelivery has its own trace; messages of the reconciler lack the event's. */
const getTrace = (
  deliveryMessage: DeliveryMessage,
  { event, claimed }: { event: OutboxEvent; claimed?: ClaimedDelivery },
): TraceId => claimed?.traceId ?? deliveryMessage.traceId ?? event.traceId;

function toMeasurement(
  claimed: ClaimedDelivery,
  event: OutboxEvent,
  settlement: Settlement,
  { startedAt, lane, isLimited }: { startedAt: Date; lane: Lane; isLimited: boolean },
): AttemptMeasurement {
  const since = (from: string, to: Date) => Math.max(0, to.getTime() - Date.parse(from));
  // A sandbox's clock may be faster, and a redelivery is not caused by the commit. A wait for the turn at an
  // endpoint with a limit is the customer's wish and not a delay of the service.
  const isCounted = !isSandbox(claimed) && isFirstDelivery(claimed) && !isLimited;
  // A batching window is deliberate and not a delay of the service.
  const isFirst = claimed.attempts === 1 && !isBatched(lane);
  return {
    outcome: settlement.kind,
    parked: settlement.kind === 'retrying' && settlement.wait.hold === 'parked',
    lateMs: isLimited ? 0 : since(claimed.nextRetryAt ?? claimed.createdAt, startedAt),
    ...(isCounted && {
      sinceCommitMs: {
        first: isFirst,
        begun: since(event.createdAt, startedAt),
        ended: since(event.createdAt, settlement.at),
      },
    }),
  };
}
