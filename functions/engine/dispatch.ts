import type { RetryPolicy } from '../domain/backoff.ts';
import {
  type AttemptResult,
  type Claimed,
  type ClaimResult,
  type Delivery,
  type DeliveryRef,
  type Disposition,
  dispositionOf,
  type EndpointOutcome,
  type MoveResult,
  type Reminder,
  type Settlement,
  type SkipReason,
  settlementOf,
  standingOf,
} from '../domain/delivery.ts';
import { type Endpoint, effectOnEndpoint } from '../domain/endpoint.ts';
import type { OutboxEvent } from '../domain/events.ts';
import type { Log } from './log.ts';

export interface DispatchPorts {
  deliveries: {
    find(ref: DeliveryRef): Promise<Delivery | undefined>;
    claim(
      ref: DeliveryRef,
      terms: { now: Date; leaseSeconds: number; maxAttempts: number },
    ): Promise<ClaimResult>;
    settle(claimed: Claimed, settlement: Settlement, outcome: EndpointOutcome): Promise<MoveResult>;
    exhaust(
      ref: DeliveryRef,
      error: string,
      maxAttempts: number,
      outcome: EndpointOutcome,
    ): Promise<MoveResult>;
    skip(ref: DeliveryRef, reason: SkipReason, now: Date): Promise<MoveResult>;
  };
  /** Reads an endpoint as it is now, for a settlement that met a changed one. */
  endpoints: { find(orgId: Reminder['orgId'], id: Reminder['webhookId']): Promise<Endpoint | undefined> };
  /** Signs the event for the endpoint, sends it, and tells how that went; ends by its deadline and never throws for a receiver's doing. */
  attempt(
    delivery: Claimed,
    endpoint: Endpoint,
    event: OutboxEvent,
  ): Promise<Omit<AttemptResult, 'startedAt' | 'endedAt'>>;
  log: Log;
  now: () => Date;
}

export interface DispatchTerms {
  retry: RetryPolicy;
  leaseSeconds: number;
}

/** How often a settlement that meets a changed endpoint looks again: as many as may fail at one endpoint at once. */
const MAX_LOOKS = 20;
const LOST_WORKER = 'the last attempt was started, and its outcome was never recorded';

/**
 * Deals with one reminder: finds out what its delivery needs, does it, and says what becomes of the message. A message that is lost,
 * doubled or late changes no outcome: what may happen is decided by conditional writes on the delivery.
 */
export function dispatch(ports: DispatchPorts, { retry, leaseSeconds }: DispatchTerms) {
  const { deliveries, endpoints, attempt, log, now } = ports;

  /** Somebody else moved the delivery: its present state says what the message is still good for. */
  async function lookAgain(ref: DeliveryRef): Promise<Disposition> {
    const standing = standingOf(await deliveries.find(ref), now(), retry.maxAttempts);
    if (standing.kind === 'claimable' || standing.kind === 'spent')
      return dispositionOf({ kind: 'overtaken', until: now() });
    return dispositionOf(standing);
  }

  async function skip(ref: DeliveryRef, reason: SkipReason): Promise<Disposition> {
    const result = await deliveries.skip(ref, reason, now());
    return result === 'done' ? dispositionOf({ kind: 'skipped' }) : lookAgain(ref);
  }

  /** Ends a delivery together with its effect on the endpoint, which others may be changing at the same time. */
  async function end(
    ref: Reminder,
    known: Endpoint | undefined,
    ended: 'succeeded' | 'exhausted',
    at: Date,
    move: (outcome: EndpointOutcome) => Promise<MoveResult>,
  ): Promise<MoveResult> {
    let endpoint = known;
    for (let look = 1; look <= MAX_LOOKS; look++) {
      const effect = effectOnEndpoint(endpoint, ended);
      const result = await move({ endpoint: { orgId: ref.orgId, id: ref.webhookId }, effect, at });
      if (effect === 'disable' && result === 'done')
        log.warn('an endpoint was disabled after consecutive failures', {
          webhookId: ref.webhookId,
          orgId: ref.orgId,
        });
      if (result !== 'endpoint-changed') return result;
      endpoint = await endpoints.find(ref.orgId, ref.webhookId);
    }
    throw new Error(`endpoint ${ref.webhookId} changed ${MAX_LOOKS} times while ${ref.id} was being settled`);
  }

  async function deliver(reminder: Reminder, claimed: Claimed, endpoint: Endpoint, event: OutboxEvent) {
    const startedAt = now();
    const result = await attempt(claimed, endpoint, event);
    const settlement = settlementOf(claimed.attempts, { ...result, startedAt, endedAt: now() }, retry);
    const settled =
      settlement.kind === 'retrying'
        ? await deliveries.settle(claimed, settlement, { endpoint, effect: 'none', at: startedAt })
        : await end(reminder, endpoint, settlement.kind, settlement.at, (outcome) =>
            deliveries.settle(claimed, settlement, outcome),
          );
    // The common case is told by its row; a line for each would cost more than the attempt's own writes.
    const level = settled === 'done' && settlement.kind === 'succeeded' ? 'debug' : 'info';
    log[level]('an attempt ended', {
      deliveryId: claimed.id,
      webhookId: endpoint.id,
      orgId: claimed.orgId,
      attempt: claimed.attempts,
      outcome: settled === 'done' ? settlement.kind : 'lease lost',
      status: result.status,
      error: result.error,
    });
    return settled === 'done' ? dispositionOf(settlement) : lookAgain(claimed);
  }

  return async (
    reminder: Reminder,
    context: { endpoint: Endpoint | undefined; event: OutboxEvent | undefined },
  ): Promise<Disposition> => {
    const { endpoint, event } = context;
    if (endpoint === undefined) return skip(reminder, 'endpoint_deleted');
    if (endpoint.status === 'auto_disabled') return skip(reminder, 'endpoint_disabled');
    if (event === undefined)
      throw new Error(`event ${reminder.eventId} of delivery ${reminder.id} does not exist`);

    const claim = await deliveries.claim(reminder, {
      now: now(),
      leaseSeconds,
      maxAttempts: retry.maxAttempts,
    });
    if (claim.kind === 'claimed') return deliver(reminder, claim.delivery, endpoint, event);
    if (claim.kind !== 'spent') return dispositionOf(claim);

    const at = now();
    const ended = await end(reminder, endpoint, 'exhausted', at, (outcome) =>
      deliveries.exhaust(reminder, LOST_WORKER, retry.maxAttempts, outcome),
    );
    return ended === 'done' ? dispositionOf({ kind: 'terminal' }) : lookAgain(reminder);
  };
}
