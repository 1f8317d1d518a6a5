import type { TraceId } from '../aws/ids.ts';
import type { Log } from '../aws/log-codes.ts';
import { findExclusion, type OutboxEvent } from '../events/events.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import type { endpointPaces } from '../receivers/pace.ts';
import { isSandbox } from '../tenancy/tenant.ts';
import {
  type ClaimedDelivery,
  type DeliveryMessage,
  type DeliveryRef,
  type SendAttempt,
  SKIPPED_WHILE,
  type SkipReason,
} from './delivery.ts';
import { chooseRetryLane, findBetterLane, isBatched, type Lane } from './lanes.ts';
import type { deliveryQueues } from './queues.ts';
import { isFirstDelivery, isRequestedByCustomer } from './redelivery.ts';
import { type DeliveryMoves, type DeliveryStore, getClaimability } from './rows.ts';
import {
  computeSettlement,
  decideDisposition,
  type MessageDisposition,
  type Settlement,
  type settlements,
} from './settle.ts';
import { getRetryPolicy } from './simulation.ts';
import type { RetryPolicy } from './timing.ts';
import type { endpointTurns } from './turns.ts';

export interface AttemptPorts {
  deliveries: Pick<DeliveryStore, 'find'> & DeliveryMoves & ReturnType<typeof settlements>;
  paces: ReturnType<typeof endpointPaces>;
  takeTurn: ReturnType<typeof endpointTurns>;
  queues: Pick<ReturnType<typeof deliveryQueues<Lane>>, 'crowded'>;
  /** Gets all that an attempt needs before it is claimed, because a claim counts as an attempt. */
  prepareSend(deliveryMessage: DeliveryMessage, endpoint: Endpoint): Promise<SendAttempt>;
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
  { deliveries, paces, takeTurn, queues, prepareSend, measures, log, now, wait }: AttemptPorts,
  { retry, leaseSeconds }: { retry: RetryPolicy; leaseSeconds: number },
) {
  const { maxAttempts } = retry;

  /** Another worker changed the delivery: its current state decides about the message. */
  async function recheck(ref: DeliveryRef): Promise<MessageDisposition> {
    const state = getClaimability(await deliveries.find(ref), now(), maxAttempts);
    if (state.kind === 'claimable' || state.kind === 'spent') return { kind: 'keep', until: now() };
    return decideDisposition(state);
  }

  async function skip(ref: DeliveryRef, reason: SkipReason): Promise<MessageDisposition> {
    const result = await deliveries.skip(ref, reason, now());
    return result === 'done' ? { kind: 'delete' } : recheck(ref);
  }

  async function deliver(
    deliveryMessage: DeliveryMessage,
    claimed: ClaimedDelivery,
    { endpoint, event, lane }: { endpoint: Endpoint; event: OutboxEvent; lane: Lane },
    send: SendAttempt,
  ): Promise<MessageDisposition> {
    const startedAt = now();
    const traceId = claimed.traceId ?? getTrace(deliveryMessage, event);
    const timer = paces.watch(endpoint, traceId);
    const result = await send(claimed, event, timer.onSlow);
    const endedAt = now();
    timer.onEnd(result, (endedAt.getTime() - startedAt.getTime()) / 1000);
    const to = chooseRetryLane(paces.of(endpoint));
    // A queue that cannot be read counts as crowded.
    const crowded = result.error !== undefined && (await queues.crowded(to).catch(() => true));
    const settlement = computeSettlement(
      claimed.attempts,
      { ...result, startedAt, endedAt },
      getRetryPolicy(retry, claimed, endpoint.url),
      { from: lane, to, crowded },
    );
    const settled = await deliveries.settle(claimed, settlement, traceId);
    await timer.done();
    const { status, error: reason } = result;
    const { id: deliveryId, webhookId, orgId, attempts: attempt } = claimed;
    const fields = { deliveryId, webhookId, orgId, attempt, status, traceId };
    if (settled !== 'done') {
      log('ATTEMPT_OUTLIVED', { ...fields, reason });
      return recheck(claimed);
    }
    const isLimited = endpoint.maxPerSecond !== undefined;
    measures.attempt(toMeasurement(claimed, event, settlement, { startedAt, lane, isLimited }));
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
    const { id: deliveryId, eventId } = deliveryMessage;
    if (endpoint === undefined) return skip(deliveryMessage, 'endpoint_deleted');
    const inactive = SKIPPED_WHILE[endpoint.status];
    if (inactive !== undefined) return skip(deliveryMessage, inactive);
    if (event === undefined) {
      log('EVENT_MISSING', { deliveryId, eventId, traceId: deliveryMessage.traceId });
      return skip(deliveryMessage, 'event_missing');
    }
    const exclusion = findExclusion(event, endpoint);
    if (exclusion !== undefined)
      return skip(deliveryMessage, exclusion === 'erased' ? exclusion : 'not_subscribed');
    const pace = paces.of(endpoint);
    const isRequested = pace === 'stalled' && isRequestedByCustomer(deliveryMessage, event);
    const other = findBetterLane(lane, pace, isRequested);
    if (other !== undefined) return { kind: 'move', lane: other, until: now() };

    const send = await prepareSend(deliveryMessage, endpoint);
    const { maxPerSecond } = endpoint;
    let most = maxAttempts;
    if (maxPerSecond !== undefined) {
      const given = await takeTurn({ message: deliveryMessage, maxPerSecond, lane });
      if (given.kind === 'wait') return given.disposition;
      // A turn is for one attempt.
      most = Math.min(maxAttempts, given.attempts + 1);
      const ms = given.at - now().getTime();
      if (ms > 0) await wait(ms / 1000);
    }
    const claim = await deliveries.claim(deliveryMessage, { now: now(), leaseSeconds, maxAttempts: most });
    if (claim.kind === 'claimed')
      return deliver(deliveryMessage, claim.delivery, { endpoint, event, lane }, send);
    if (claim.kind !== 'spent') return decideDisposition(claim);
    const ended = await deliveries.exhaust(deliveryMessage, now(), getTrace(deliveryMessage, event));
    return ended === 'done' ? { kind: 'delete' } : recheck(deliveryMessage);
  };
}

/** Messages of the reconciler lack the event's trace. */
const getTrace = ({ traceId }: DeliveryMessage, event: OutboxEvent): TraceId => traceId ?? event.traceId;

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
