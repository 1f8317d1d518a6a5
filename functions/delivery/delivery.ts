import * as z from 'zod/mini';
import {
  DeliveryId,
  deriveDeliveryId,
  EventId,
  OrgId,
  ReceiverId,
  Timestamp,
  TraceId,
  withTrace,
} from '../aws/ids.ts';
import { EventTypeName, type OutboxEvent } from '../events/events.ts';
import { type AttemptError, AttemptErrorCode } from '../receivers/attempt-error.ts';
import type { Endpoint } from '../receivers/endpoint.ts';
import { Turn } from '../receivers/endpoint-rate.ts';
import { chooseWaitMode, type Lane, type WaitMode } from './lanes.ts';
import { RECONCILE_LOOKAHEAD_SECONDS, type RetryPolicy, scheduleNextAttempt } from './timing.ts';

export const DeliveryStatus = z.enum(['pending', 'retrying', 'succeeded', 'exhausted', 'skipped']);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

/** States that an attempt may start from. The others are terminal. */
export const OPEN_STATUSES = ['pending', 'retrying'] as const satisfies readonly DeliveryStatus[];

/**
 * Why a delivery ends without a further attempt. `not_subscribed`: its event is no longer for the endpoint.
 * `event_missing`: the event's body is gone. `expired`: still open after 3 days.
 */
export const SkipReason = z.enum([
  'endpoint_disabled',
  'endpoint_deleted',
  'not_subscribed',
  'event_missing',
  'expired',
]);
export type SkipReason = z.infer<typeof SkipReason>;
/** A simulated receiver of a sandbox accepted the request (docs/specification.md, Sandbox). */
const SIMULATED = 'sandbox_simulated';
export const TerminalReason = z.enum(['max_attempts', SIMULATED, ...SkipReason.options]);
export type TerminalReason = z.infer<typeof TerminalReason>;

/** A request to a receiver as sent. */
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
  startedAt: Timestamp,
  durationMs: z.int(),
  status: z.optional(z.int()),
  error: z.optional(z.string()),
  errorCode: z.optional(AttemptErrorCode),
  /** First KiB of the response body of a failed attempt. */
  response: z.optional(z.string()),
  /** Kept for simulated receivers, so that customers can test their verification with it. */
  request: z.optional(WebhookRequest),
});
export type AttemptRecord = z.infer<typeof AttemptRecord>;

/** The right to attempt a delivery until `until` (ms since the epoch). `token` fences the settlement. */
export const Lease = z.object({ token: z.string(), until: z.number() });
export type Lease = z.infer<typeof Lease>;

/** One event for one endpoint. */
export const Delivery = z.object({
  id: DeliveryId,
  orgId: OrgId,
  generation: z.int(),
  /** The webhook endpoint or channel. */
  webhookId: ReceiverId,
  eventId: EventId,
  eventType: EventTypeName,
  status: DeliveryStatus,
  /** Attempts started; an attempt is counted before its request is sent. */
  attempts: z.int(),
  attemptLog: z.array(AttemptRecord),
  createdAt: Timestamp,
  nextRetryAt: z.optional(Timestamp),
  terminalAt: z.optional(Timestamp),
  terminalReason: z.optional(TerminalReason),
  lastError: z.optional(z.string()),
  lastErrorCode: z.optional(AttemptErrorCode),
  lastResponseStatus: z.optional(z.int()),
  lease: z.optional(Lease),
  /** Set while no queue message exists for the next attempt; the reconciler sends one when it is due. */
  parked: z.optional(z.literal(true)),
  /** At an endpoint with a limit: the time that was given to the attempt that it waits for. */
  turn: z.optional(Turn),
  /** The delivery that this one repeats. */
  redeliveryOf: z.optional(DeliveryId),
  /**
   * Trace of the API call that started a redelivery. Other deliveries share their event's trace: storing it
   * in each row would cost writes.
   */
  traceId: TraceId,
});
export type Delivery = z.infer<typeof Delivery>;

/** Identifies a delivery: the parts of its key. */
export type DeliveryRef = Pick<Delivery, 'id' | 'webhookId' | 'generation'>;

/**
 * A queue message that names a delivery. The row in the table decides, not the message (docs/architecture.md,
 * Guarantees).
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

export type ClaimedDelivery = Delivery & { lease: Lease };

/**
 * Creates the delivery of an event to an endpoint. For a disabled endpoint it is created as `skipped`
 * (docs/specification.md, Webhook endpoints).
 */
export function createDelivery(
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

/** How an attempt ended. One without `error` succeeded. */
export type AttemptOutcome = {
  status?: number;
  response?: string;
  /** The request that a simulated receiver got. */
  simulated?: WebhookRequest;
} & (AttemptError | { error?: undefined; errorCode?: undefined });

/** Result of one attempt. */
export type AttemptResult = AttemptOutcome & { startedAt: Date; endedAt: Date };

/**
 * Signs and sends the event. Ends by its deadline and never throws for a receiver's failure.
 * @param onSlow called once when the endpoint is slow: `SLOW_AFTER_SECONDS`, `SLOW_TO_CONNECT_SECONDS`
 */
export type SendAttempt = (
  delivery: ClaimedDelivery,
  event: OutboxEvent,
  onSlow: () => void,
) => Promise<AttemptOutcome>;

/** How the wait for the next attempt is spent, and the queue of that attempt. */
export interface Wait {
  hold: WaitMode;
  lane: Lane;
}

/** What an attempt changes in its delivery. `at` is the end of the attempt. */
export type Settlement = { at: Date } & (
  | { kind: 'succeeded'; attempt: AttemptRecord; terminalReason?: TerminalReason }
  | { kind: 'retrying'; attempt: FailedAttempt; nextRetryAt: Date; wait: Wait }
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
  if (number < policy.maxAttempts) {
    const nextRetryAt = scheduleNextAttempt(number, at, policy);
    const seconds = (nextRetryAt.getTime() - at.getTime()) / 1000;
    const hold = chooseWaitMode(seconds, route.from, route.to, route.crowded);
    return { kind: 'retrying', attempt, at, nextRetryAt, wait: { hold, lane: route.to } };
  }
  return { kind: 'exhausted', attempt, terminalReason: 'max_attempts', at };
}

function toAttemptRecord(number: number, result: AttemptResult): AttemptRecord {
  const { startedAt, endedAt, status, response, simulated } = result;
  return {
    number,
    startedAt: startedAt.toISOString(),
    durationMs: Math.max(0, endedAt.getTime() - startedAt.getTime()),
    ...(status === undefined ? {} : { status }),
    ...(response === undefined || response === '' ? {} : { response }),
    ...(simulated && isKept(simulated) ? { request: simulated } : {}),
  };
}

/**
 * Maximum size of a body kept with each of 8 attempts: a row has at most 400 KB, and messages for channels
 * can be longer.
 */
const KEPT_BODY_BYTES = 32_768;
const isKept = ({ body }: WebhookRequest): boolean => Buffer.byteLength(body) <= KEPT_BODY_BYTES;

/** Whether a delivery can be claimed now, and why not. */
export type Claimability =
  | { kind: 'absent' }
  | { kind: 'terminal' }
  | { kind: 'leased'; until: Date }
  /** `parked` when its queue message is to be dropped. */
  | { kind: 'not-due'; at: Date; parked: boolean }
  /** All attempts were started, and the last one was never settled. */
  | { kind: 'spent' }
  | { kind: 'claimable' };

/**
 * Applies the rules of the claim's condition to a row.
 * @param found the delivery; undefined when there is none
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
 * A message of a parked delivery is a leftover, unless it arrives within the reconciler's lookahead: then the
 * reconciler has sent it and not yet recorded that.
 */
function toNotDue({ parked }: Delivery, at: Date, now: Date): Claimability {
  const isSoon = at.getTime() - now.getTime() <= RECONCILE_LOOKAHEAD_SECONDS * 1000;
  return { kind: 'not-due', at, parked: parked === true && !isSoon };
}

export type ClaimResult =
  | { kind: 'claimed'; delivery: ClaimedDelivery }
  | Exclude<Claimability, { kind: 'claimable' }>;

/**
 * - `refused`: the delivery's state forbids the change, or the claim's lease is lost
 * - `endpoint-changed`: the endpoint changed since it was read; read it again and decide again
 */
export type MoveResult = 'done' | 'refused' | 'endpoint-changed';

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
  outcome:
    | Exclude<Claimability, { kind: 'claimable' | 'spent' }>
    | Settlement
    | { kind: 'skipped' }
    /** Another worker changed the delivery since it was read: check again later. */
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

/** A message to send. */
export interface OutgoingMessage {
  message: DeliveryMessage;
  /** Earliest time of its receipt; at once when absent or past. */
  until?: Date;
}
