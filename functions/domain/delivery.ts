import * as z from 'zod/mini';
import type { Endpoint, EndpointEffect } from './endpoint.ts';
import { EventTypeName, type OutboxEvent } from './events.ts';
import { DeliveryId, deriveDeliveryId, EventId, OrgId, ReceiverId, TraceId, withTrace } from './ids.ts';
import { chooseWaitMode, type Lane, type WaitMode } from './lanes.ts';
import { scaleRetryPolicy } from './simulation.ts';
import { RECONCILE_LOOKAHEAD_SECONDS, type RetryPolicy, scheduleNextAttempt } from './timing.ts';

export const DeliveryStatus = z.enum(['pending', 'retrying', 'succeeded', 'exhausted', 'skipped']);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

/** The states that an attempt may start from; the others are terminal. */
export const OPEN_STATUSES = ['pending', 'retrying'] as const satisfies readonly DeliveryStatus[];

/**
 * Why a delivery ends without a further attempt. The last two are failures of the service that no repetition
 * heals: the event's body is gone, or the delivery could not be dealt with for days.
 */
export const SkipReason = z.enum(['endpoint_disabled', 'endpoint_deleted', 'event_missing', 'expired']);
export type SkipReason = z.infer<typeof SkipReason>;
/**
 * A sandbox's request that would have gone out was taken by a simulated receiver, which accepted it
 * (decisions.md, Deliveries).
 */
const SIMULATED = 'sandbox_simulated';
export const TerminalReason = z.enum(['max_attempts', SIMULATED, ...SkipReason.options]);
export type TerminalReason = z.infer<typeof TerminalReason>;

/** A request to a receiver, as it is put on the wire. */
export const WebhookRequest = z.object({
  method: z.literal('POST'),
  url: z.string(),
  /** Names in lower case. */
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});
export type WebhookRequest = z.infer<typeof WebhookRequest>;

/** One settled attempt. `status` when the receiver answered, `error` when the attempt failed. */
export const AttemptRecord = z.object({
  number: z.int(),
  startedAt: z.iso.datetime(),
  durationMs: z.int(),
  status: z.optional(z.int()),
  error: z.optional(z.string()),
  /** The first KiB of the answer's body, kept for failures. */
  response: z.optional(z.string()),
  /** Kept where it went to a simulated receiver, so that a verifier can be checked against it. */
  request: z.optional(WebhookRequest),
  /** When it would have been, where time passes faster. */
  atRealSpeed: z.optional(z.object({ startedAt: z.iso.datetime(), durationMs: z.int() })),
});
export type AttemptRecord = z.infer<typeof AttemptRecord>;

/**
 * The right to attempt a delivery until `until` (milliseconds since the epoch); `token` fences its
 * settlement.
 */
export const Lease = z.object({ token: z.string(), until: z.number() });
export type Lease = z.infer<typeof Lease>;

/** One event owed to one endpoint. */
export const Delivery = z.object({
  id: DeliveryId,
  orgId: OrgId,
  generation: z.int(),
  /** The webhook endpoint or channel that it goes to. */
  webhookId: ReceiverId,
  eventId: EventId,
  eventType: EventTypeName,
  status: DeliveryStatus,
  /** Attempts started, counted before the request goes out. */
  attempts: z.int(),
  attemptLog: z.array(AttemptRecord),
  createdAt: z.iso.datetime(),
  nextRetryAt: z.optional(z.iso.datetime()),
  terminalAt: z.optional(z.iso.datetime()),
  terminalReason: z.optional(TerminalReason),
  lastError: z.optional(z.string()),
  lastResponseStatus: z.optional(z.int()),
  lease: z.optional(Lease),
  /** Set while no message waits for the next attempt: the due index brings it back. */
  parked: z.optional(z.literal(true)),
  /** The delivery that this one repeats at the customer's wish. */
  redeliveryOf: z.optional(DeliveryId),
  /**
   * Of the API call that a redelivery began with. Other deliveries have their event's, where it is stored once: here, and with each attempt, it
   * would make the row larger that is written most often.
   */
  traceId: TraceId,
  /** When the next attempt and the end would have been, where time passes faster. */
  atRealSpeed: z.optional(
    z.object({ nextRetryAt: z.optional(z.iso.datetime()), terminalAt: z.optional(z.iso.datetime()) }),
  ),
});
export type Delivery = z.infer<typeof Delivery>;

/** What names a delivery: enough for its key. */
export type DeliveryRef = Pick<Delivery, 'id' | 'webhookId' | 'generation'>;

/**
 * A queue message. It only reminds of a delivery, whose truth is in its table (architecture.md, Promise 3).
 */
export const DeliveryMessage = z.pick(Delivery, {
  id: true,
  orgId: true,
  generation: true,
  webhookId: true,
  eventId: true,
  traceId: true,
});
export type DeliveryMessage = z.infer<typeof DeliveryMessage>;

export const toDeliveryMessage = ({
  id,
  orgId,
  generation,
  webhookId,
  eventId,
  traceId,
}: Delivery): DeliveryMessage => ({
  id,
  orgId,
  generation,
  webhookId,
  eventId,
  ...withTrace(traceId),
});

/** A delivery under a lease. */
export type ClaimedDelivery = Delivery & { lease: Lease };

/**
 * The delivery that an event owes to an endpoint. To a disabled endpoint it is skipped from the start
 * (public-api.md, Webhook endpoint status).
 */
export function newDelivery(
  event: OutboxEvent,
  endpoint: Pick<Endpoint, 'id' | 'status'>,
  now: Date,
): Delivery {
  const skipped = endpoint.status === 'auto_disabled';
  return {
    id: deriveDeliveryId(event.id, endpoint.id),
    orgId: event.orgId,
    generation: event.generation,
    webhookId: endpoint.id,
    eventId: event.id,
    eventType: event.type,
    status: skipped ? 'skipped' : 'pending',
    attempts: 0,
    attemptLog: [],
    createdAt: now.toISOString(),
    ...(skipped ? { terminalAt: now.toISOString(), terminalReason: 'endpoint_disabled' as const } : {}),
  };
}

/** How one attempt went. */
export type AttemptResult = {
  startedAt: Date;
  endedAt: Date;
  status?: number;
  error?: string;
  response?: string;
  /**
   * Of an attempt at a simulated receiver: what it was sent, and how long it would have taken at real speed.
   */
  simulated?: { request: WebhookRequest; durationMs: number };
};

/** Where the wait for the next attempt is spent, and in which lane that attempt will be. */
export interface Wait {
  hold: WaitMode;
  lane: Lane;
}

/** What an attempt makes of its delivery; `at` is when the attempt ended. */
export type Settlement = { attempt: AttemptRecord; at: Date; atRealSpeed?: Delivery['atRealSpeed'] } & (
  | { kind: 'succeeded'; terminalReason?: TerminalReason }
  | { kind: 'retrying'; nextRetryAt: Date; wait: Wait }
  | { kind: 'exhausted'; terminalReason: TerminalReason }
);

/** How fast a delivery's time passes, and when its attempt would have begun at real speed. */
export interface Pace {
  speed: number;
  startedAt: Date;
}

/**
 * Decides what a finished attempt makes of its delivery. An attempt without an `error` succeeded.
 * @param number the attempt's number, from 1, as the claim counted it
 * @param way the lane that the attempt was made in, the one for the next, and whether that one nears its
 * limit of messages in flight
 * @param pace where time passes faster than it does
 */
export function computeSettlement(
  number: number,
  result: AttemptResult,
  policy: RetryPolicy,
  way: { from: Lane; to: Lane; crowded: boolean },
  pace?: Pace,
): Settlement {
  const { endedAt, error, simulated } = result;
  const real = pace && computeRealTimes(result, pace.startedAt);
  const attempt = { ...toAttemptRecord(number, result), ...(real && { atRealSpeed: real.attempt }) };
  if (error !== undefined && number < policy.maxAttempts) {
    const nextRetryAt = scheduleNextAttempt(number, endedAt, scaleRetryPolicy(policy, pace?.speed ?? 1));
    const hold = chooseWaitMode(
      (nextRetryAt.getTime() - endedAt.getTime()) / 1000,
      way.from,
      way.to,
      way.crowded,
    );
    const atRealSpeed = real && {
      nextRetryAt: scheduleNextAttempt(number, real.endedAt, policy).toISOString(),
    };
    return {
      kind: 'retrying',
      attempt,
      at: endedAt,
      nextRetryAt,
      wait: { hold, lane: way.to },
      ...(atRealSpeed && { atRealSpeed }),
    };
  }
  const end = {
    attempt,
    at: endedAt,
    ...(real && { atRealSpeed: { terminalAt: real.endedAt.toISOString() } }),
  };
  if (error !== undefined) return { kind: 'exhausted', terminalReason: 'max_attempts', ...end };
  return { kind: 'succeeded', ...(simulated && { terminalReason: SIMULATED }), ...end };
}

function toAttemptRecord(number: number, result: AttemptResult): AttemptRecord {
  const { startedAt, endedAt, status, error, response, simulated } = result;
  return {
    number,
    startedAt: startedAt.toISOString(),
    durationMs: Math.max(0, endedAt.getTime() - startedAt.getTime()),
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    ...(response === undefined || response === '' ? {} : { response }),
    ...(simulated && isKept(simulated.request) ? { request: simulated.request } : {}),
  };
}

/**
 * Bytes of a body that is kept with each of 8 attempts, in a row that may have 400 KB. What channels are sent
 * can be longer.
 */
const KEPT_BODY_BYTES = 32_768;
const isKept = ({ body }: WebhookRequest): boolean => Buffer.byteLength(body) <= KEPT_BODY_BYTES;

/** When an attempt and its end would have been at real speed. */
function computeRealTimes({ simulated }: AttemptResult, startedAt: Date) {
  const durationMs = Math.round(simulated?.durationMs ?? 0);
  return {
    attempt: { startedAt: startedAt.toISOString(), durationMs },
    endedAt: new Date(startedAt.getTime() + durationMs),
  };
}

/** Why a delivery cannot be claimed now. */
export type Claimability =
  | { kind: 'absent' }
  | { kind: 'terminal' }
  | { kind: 'leased'; until: Date }
  /** `parked` when no message is to wait for it. */
  | { kind: 'not-due'; at: Date; parked: boolean }
  /** All attempts were started, and the last one's worker never settled it. */
  | { kind: 'spent' }
  | { kind: 'claimable' };

/**
 * Reads a delivery's standing as the claim's condition does.
 * @param found the delivery, or undefined when there is none
 */
export function getClaimability(found: Delivery | undefined, now: Date, maxAttempts: number): Claimability {
  if (found === undefined) return { kind: 'absent' };
  if (!OPEN_STATUSES.some((open) => open === found.status)) return { kind: 'terminal' };
  if (found.lease !== undefined && found.lease.until > now.getTime())
    return { kind: 'leased', until: new Date(found.lease.until) };
  if (found.nextRetryAt !== undefined && new Date(found.nextRetryAt) > now)
    return toNotDue(found, new Date(found.nextRetryAt), now);
  return found.attempts >= maxAttempts ? { kind: 'spent' } : { kind: 'claimable' };
}

/**
 * A message of a parked delivery is a leftover, unless it comes within the reconciler's lookahead of the
 * attempt: then it is the one that the reconciler has sent, which has not yet noted that it did.
 */
function toNotDue({ parked }: Delivery, at: Date, now: Date): Claimability {
  const isSoon = at.getTime() - now.getTime() <= RECONCILE_LOOKAHEAD_SECONDS * 1000;
  return { kind: 'not-due', at, parked: parked === true && !isSoon };
}

export type ClaimResult =
  | { kind: 'claimed'; delivery: ClaimedDelivery }
  | Exclude<Claimability, { kind: 'claimable' }>;

/**
 * `refused` when the delivery is not in a state that the move may leave, or no longer under the claim's
 * lease. `endpoint-changed` when the endpoint is not as the effect on it expects, or others keep changing it:
 * a new look at it decides.
 */
export type MoveResult = 'done' | 'refused' | 'endpoint-changed';

/** What the end of a delivery does to its endpoint, and when. */
export interface EndpointOutcome {
  /** As it was when the effect was decided. One that has changed since takes no effect. */
  endpoint: Pick<Endpoint, 'orgId' | 'id'> & Partial<Pick<Endpoint, 'consecutiveFailures' | 'streak'>>;
  effect: EndpointEffect;
  at: Date;
  traceId?: TraceId;
}

/** What becomes of the queue message that reminded of a delivery. */
export type MessageDisposition =
  | { kind: 'delete' }
  /** It stays in its lane, hidden. */
  | { kind: 'keep'; until: Date }
  /** It goes to another lane, held back there. */
  | { kind: 'move'; lane: Lane; until: Date };

/**
 * The one place that decides it: a message lives as long as its delivery waits for something in a queue. One
 * that is deleted although its delivery is open is deleted because the due index has the delivery.
 */
export function decideDisposition(
  outcome:
    | Exclude<Claimability, { kind: 'claimable' | 'spent' }>
    | Settlement
    | { kind: 'skipped' }
    /** Another worker moved it meanwhile, so what was read is stale: look again. */
    | { kind: 'overtaken'; until: Date },
): MessageDisposition {
  switch (outcome.kind) {
    case 'leased':
    case 'overtaken':
      return { kind: 'keep', until: outcome.until };
    case 'not-due':
      return outcome.parked ? { kind: 'delete' } : { kind: 'keep', until: outcome.at };
    case 'retrying':
      return decideWaitDisposition(outcome.wait, outcome.nextRetryAt);
    case 'absent':
    case 'terminal':
    case 'skipped':
    case 'succeeded':
    case 'exhausted':
      return { kind: 'delete' };
  }
}

function decideWaitDisposition({ hold, lane }: Wait, until: Date): MessageDisposition {
  if (hold === 'parked') return { kind: 'delete' };
  return hold === 'hidden' ? { kind: 'keep', until } : { kind: 'move', lane, until };
}

/** A message to be sent. */
export interface OutgoingMessage {
  message: DeliveryMessage;
  /** Until when it is held back; at once when absent or past. */
  until?: Date;
}
